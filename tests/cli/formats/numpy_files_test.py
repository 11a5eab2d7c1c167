# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""NumPy files (.npy) against NumPy: the type and the number of records come from their headers, and every output has a
header of its own. In memory, spilled, of several files, on ranks; what cannot be sorted is refused in one message.

HETSORT_TEST_SEED draws other files, HETSORT_TEST_CASES their number."""
import os
import random
import shutil
import struct
import sys
import unittest

from shell_case import MPIRUN, PROGRAM, SEED, ShellCase

# Debian's package, if another interpreter of the same version runs this.
sys.path.append("/usr/lib/python3/dist-packages")
try:
    import numpy
except ImportError:
    numpy = None

CASES = int(os.environ.get("HETSORT_TEST_CASES", "30"))
PLAIN = ["<u1", "<u2", ">u4", "<u8", "<i2", "<i8", ">i8", "<f2", "<f4", "<f8", ">f8", "?", "S5", "<U3", ">U2", "<M8[s]",
         "<m8[ns]", "<c8", "<c16"]


def values(dtype, count, source):
    """Few values, so that many are equal; those of texts sort as their numbers do."""
    numbers = source.integers(0, 7, count)
    if dtype.kind in "SU":
        return numbers.astype("U1").astype(dtype)
    if dtype.kind in "if":
        numbers = numbers - 3
    if dtype.kind == "f":
        numbers = numpy.where(numbers == 3, numpy.nan, numbers)
    return numbers.astype(dtype)


def random_array(draw, count):
    source = numpy.random.default_rng(draw.randrange(2**32))
    if draw.random() < 0.4:
        return values(numpy.dtype(draw.choice(PLAIN)), count, source)
    names = draw.sample(["id", "a name", "it's", "x:y", "größe", "value"], draw.choice([1, 2, 4]))
    dtype = numpy.dtype([(name, draw.choice(PLAIN)) for name in names], align=draw.random() < 0.5)
    array = numpy.zeros(count, dtype)
    for name in names:
        array[name] = values(dtype[name], count, source)
    return array


def sorted_by(array, keys):
    """The bytes of the array in the order of lexsort, which knows no descending keys: their ranks are reversed."""
    columns = []
    for name, descending in keys:
        column = array if name is None else array[name]
        column = numpy.unique(column.astype(column.dtype.newbyteorder("=")), return_inverse=True)[1].reshape(-1)
        columns.append(-column if descending else column)
    # NumPy does not copy the bytes between fields: whole records are rows of bytes.
    return array.view("u1").reshape(len(array), array.itemsize)[numpy.lexsort(columns[::-1])].tobytes()


def write(path, array, version=None, pad=0):
    """Writes as NumPy does, or behind a header with more spaces, as other programs do."""
    if not pad:
        with open(path, "wb") as file:
            numpy.lib.format.write_array(file, array, version)
        return
    text = repr(numpy.lib.format.header_data_from_array_1_0(array)) + " " * pad + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x02\0" + struct.pack("<I", len(text.encode("latin-1"))) + text.encode("latin-1"))
        file.write(array.tobytes())


@unittest.skipIf(numpy is None, "NumPy is missing")
class NumPyFiles(ShellCase):
    def load(self, name):
        return numpy.load(self.path(name))

    def hetsort(self, *words, code=0):
        done = self.run_in(PROGRAM, *words)
        self.assertEqual(done.returncode, code, done.stderr.decode())
        return done

    def numbers(self, count=1000, kind="<i8"):
        array = numpy.random.default_rng(SEED).integers(0, 100, count).astype(kind)
        numpy.save(self.path("in.npy"), array)
        return array

    def test_random_files_are_sorted_as_numpy_sorts_them(self):
        for case in range(CASES):
            seed = 1000 * SEED + case
            draw = random.Random(seed)
            array = random_array(draw, draw.choice([0, 1, 2, 1000, 30000]))
            names = array.dtype.names
            keys = [(None, False)] if names is None else [(name, False) for name in names]
            words = draw.choice([[], ["-S", "1M", "-T", self.folder], ["--io", "buffered"], ["--verify-output"], ["-r"]])
            if names is not None and draw.random() < 0.6:
                keys = [(name, draw.random() < 0.4) for name in draw.sample(names, draw.randrange(1, len(names) + 1))]
                for name, descending in keys:
                    words = words + ["--key", name + draw.choice([":desc"] if descending else ["", ":asc"])]
            parts = numpy.array_split(array, draw.choice([1, 1, 3]))
            for number, part in enumerate(parts):
                latin = names is None or "größe" not in names
                version = draw.choice([None, (2, 0), (3, 0)])
                write(self.path(f"in.{number}"), part, version, draw.choice([0, 1, 5000]) if latin else 0)
            inputs = [f"in.{number}" for number in range(len(parts))]
            if "-r" in words:
                keys = [(name, not descending) for name, descending in keys]
            with self.subTest(seed=seed, dtype=array.dtype, words=words, inputs=inputs):
                self.hetsort("sort", *inputs, "-o", "out.npy", *words)
                found = self.load("out.npy")
                self.assertEqual(found.dtype, array.dtype)
                self.assertEqual(found.tobytes(), sorted_by(array, keys))
                order = [word for word in words if word not in ("--verify-output", "--io", "buffered")]
                self.hetsort("sort", "-c", "out.npy", *order)
                keys_only = [word for at, word in enumerate(order) if "-S" not in order or at >= 4]
                self.hetsort("validate", "-q", "out.npy", *keys_only)

    def test_an_output_is_byte_for_byte_what_numpy_writes(self):
        for kind in ["<f8", [("id", "<u8"), ("name", "S3")]]:
            array = numpy.zeros(1234, kind)
            numpy.save(self.path("in.npy"), array)
            self.hetsort("sort", "in.npy", "-o", "out.npy")
            with open(self.path("in.npy"), "rb") as wrote, open(self.path("out.npy"), "rb") as found:
                self.assertEqual(found.read(), wrote.read())

    def test_nested_types_arrays_in_records_and_titles(self):
        kind = numpy.dtype([("at", [("x", "<i2"), ("y", "<i2", (2,))]), (("a title", "name"), "S2")])
        array = numpy.zeros(500, kind)
        source = numpy.random.default_rng(SEED)
        array["at"]["x"], array["at"]["y"] = source.integers(0, 3, 500), source.integers(-2, 2, (500, 2))
        array["name"] = source.integers(0, 3, 500).astype("S2")
        numpy.save(self.path("in.npy"), array)
        self.hetsort("sort", "in.npy", "-o", "out.npy")
        rows = sorted(array.tolist(), key=lambda row: (row[0][0], *row[0][1].tolist(), row[1]))
        self.assertEqual(str(self.load("out.npy").tolist()), str(rows))

    def test_unique_merge_streams_and_several_outputs(self):
        array = self.numbers(100_000)
        self.hetsort("sort", "-u", "in.npy", "-o", "unique.npy")
        self.assertEqual(self.load("unique.npy").tolist(), numpy.unique(array).tolist())
        self.hetsort("sort", "-u", "-c", "unique.npy")
        self.hetsort("sort", "in.npy", "-o", "in.npy")
        for words in [["-m"], ["-m", "-u"], ["-u", "-S", "1M", "-T", "."]]:
            self.hetsort("sort", *words, "unique.npy", "in.npy", "unique.npy", "-o", "out.npy")
            both = numpy.sort(numpy.concatenate([numpy.unique(array), array, numpy.unique(array)]))
            self.assertEqual(self.load("out.npy").tolist(), (numpy.unique(both) if "-u" in words else both).tolist())
        self.hetsort("sort", "in.npy", "-o", "one.npy", "-o", "two.npy", "-o", "three.npy")
        parts = [self.load(name) for name in ["one.npy", "two.npy", "three.npy"]]
        self.assertEqual([len(part) for part in parts], [33334, 33333, 33333])
        self.assertEqual(numpy.concatenate(parts).tolist(), numpy.sort(array).tolist())
        self.hetsort("validate", "one.npy", "two.npy", "three.npy")
        for line in ["$H sort in.npy | cat >out.npy", "$H sort in.npy >out.npy", "{ printf xx; $H sort in.npy; } >two; "
                     "tail -c +3 two >out.npy"]:
            done = self.run_in("bash", "-c", f"H='{PROGRAM}'; {line}")
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertEqual(self.load("out.npy").tolist(), numpy.sort(array).tolist())

    def test_outputs_may_be_compressed(self):
        array = self.numbers()
        self.hetsort("sort", "in.npy", "-o", "out.npy.gz")
        with open(self.path("out.npy"), "wb") as file:
            file.write(self.run_in("gzip", "-dc", "out.npy.gz").stdout)
        self.assertEqual(self.load("out.npy").tolist(), numpy.sort(array).tolist())
        for words, reason in [(["-u", "in.npy"], "-u of a NumPy file needs a regular file, not compressed"),
                              (["out.npy.gz"], "this is a NumPy file, whose header is no record"),
                              (["in.npy", "out.npy.gz"], "all inputs must be NumPy files")]:
            self.assertIn(reason, self.hetsort("sort", *words, "-o", "more.gz", code=2).stderr.decode())

    def test_more_files_than_may_be_open(self):
        array = self.numbers(3000)
        for number, part in enumerate(numpy.array_split(array, 100)):
            write(self.path(f"part.{number}.npy"), part, pad=number)
        done = self.run_in("bash", "-c", f"ulimit -n 64; '{PROGRAM}' sort part.*.npy -o out.npy")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.load("out.npy").tolist(), numpy.sort(array).tolist())

    def test_disorder_is_reported_with_its_place(self):
        numpy.save(self.path("in.npy"), numpy.array([1, 2, 0, 3], "<i4"))
        done = self.hetsort("sort", "-c", "in.npy", code=1)
        self.assertEqual(done.stderr.decode(), "hetsort: check in.npy: record 3 at offset 136 is below the record before it\n")
        self.hetsort("validate", "in.npy", code=1)
        self.hetsort("sort", "-c", "--key", "0:u8:desc", "in.npy", code=1)

    @unittest.skipUnless(shutil.which(MPIRUN[0]), "Open MPI is not installed")
    def test_ranks_share_files_or_have_their_own(self):
        array = numpy.random.default_rng(SEED).integers(0, 1000, 50_000).astype([("id", "<i4")])
        for number, part in enumerate(numpy.array_split(array, [10_000, 10_001])):
            write(self.path(f"in.{number}"), part, pad=10 * number)
        wanted = numpy.sort(array)
        shared = ["in.0", "in.1", "in.2"]
        for words, outputs in [([*shared, "-o", "out"], ["out"]), ([*shared, "-o", "out", "-u"], ["out"]),
                               ([*shared, "-o", "out", "--root-input"], ["out"]),
                               ([*shared, "-o", "out.{rank}", "--speeds", "1,2,3"], ["out.0", "out.1", "out.2"]),
                               (["in.{rank}", "-o", "out.{rank}"], ["out.0", "out.1", "out.2"]),
                               (["in.{rank}", "-o", "out"], ["out"])]:
            done = self.run_in(*MPIRUN, "-n", "3", PROGRAM, "sort", "-q", "--key", "id", *words)
            with self.subTest(words=words):
                self.assertEqual(done.returncode, 0, done.stderr.decode())
                found = numpy.concatenate([self.load(name) for name in outputs])
                self.assertEqual(found.tolist(), (numpy.unique(wanted) if "-u" in words else wanted).tolist())
        done = self.run_in(*MPIRUN, "-n", "3", PROGRAM, "validate", "-q", "out.{rank}", "--key", "id")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        numpy.save(self.path("other.npy"), numpy.zeros(3, "<i8"))
        os.replace(self.path("other.npy"), self.path("in.2"))
        done = self.run_in(*MPIRUN, "-n", "3", PROGRAM, "sort", "in.{rank}", "-o", "out.{rank}")
        self.assertEqual(done.returncode, 2)
        self.assertIn("read in.2: its elements have the type '<i8', and those of in.0 the type [('id', '<i4')]",
                      done.stderr.decode())

    def test_what_cannot_be_sorted_is_refused_in_one_message(self):
        rows = numpy.zeros(4, [("id", "<u4"), ("wide", "<f8")])
        numpy.save(self.path("good.npy"), rows)
        numpy.save(self.path("fortran.npy"), numpy.zeros((3, 4), order="F"))
        numpy.save(self.path("rows.npy"), numpy.zeros((3, 4)))
        numpy.save(self.path("scalar.npy"), numpy.float64(1))
        numpy.save(self.path("objects.npy"), numpy.array([None, 1]), allow_pickle=True)
        numpy.save(self.path("field.npy"), numpy.array([(1, None)], [("a", "<i4"), ("b", "O")]), allow_pickle=True)
        numpy.save(self.path("long.npy"), numpy.zeros(3, numpy.longdouble))
        numpy.save(self.path("none.npy"), numpy.zeros(3, "V0"))
        numpy.save(self.path("other.npy"), numpy.zeros(3))
        with open(self.path("good.npy"), "rb") as file:
            good = file.read()
        damaged = {"short.npy": good[:-1], "longer.npy": good + b"\0", "cut.npy": good[:60], "version.npy":
                   good.replace(b"\x01\0", b"\x07\0", 1), "literal.npy": good.replace(b"{", b"[", 1),
                   "type.npy": good.replace(b"<u4", b"<q4"), "text.npy": b"a\nb\n" * 25}
        for name, content in damaged.items():
            with open(self.path(name), "wb") as file:
                file.write(content)
        for words, reason in [
                (["fortran.npy"], "holds an array of 2 dimensions in Fortran order; an array of one dimension can"),
                (["rows.npy"], "holds an array of 2 dimensions; an array of one dimension can be sorted"),
                (["scalar.npy"], "holds an array of 0 dimensions;"),
                (["objects.npy"], "holds objects of Python"), (["field.npy"], "holds objects of Python"),
                (["long.npy"], "values of type '<f16' cannot be keys"),
                (["none.npy"], "of this NumPy file have no bytes"),
                (["short.npy"], "promises 4 elements of 12 bytes behind 128 bytes, but the file has 175 bytes"),
                (["longer.npy"], "promises 4 elements of 12 bytes behind 128 bytes, but the file has 177 bytes"),
                (["cut.npy"], "the header of this NumPy file is damaged"),
                (["version.npy"], "damaged or of an unknown version"), (["literal.npy"], "damaged"),
                (["type.npy"], "the type '<q4' of this NumPy file is unknown"),
                (["good.npy", "other.npy"], "read other.npy: its elements have the type '<f8', and those of good.npy"),
                (["good.npy", "text.npy"], "read text.npy: this is no NumPy file, and the first input good.npy is one"),
                (["good.npy", "-"], "standard input: all inputs must be NumPy files"),
                (["text.npy", "good.npy", "--record-size", "4"], "read good.npy: this is a NumPy file"),
                (["good.npy", "--lines"], "this is a NumPy file"),
                (["good.npy", "--record-size", "12"], "without --record-size, --header and --lines"),
                (["good.npy", "--key", "ID"], "--key 'ID' names no field; the fields are id, wide"),
                (["other.npy", "--key", "id"], "its elements have no fields, but the type '<f8'"),
                (["good.npy", "--key", "id", "--key", "0:u8"], "all must do the same"),
                (["good.npy", "--key", "12:u8"], "reaches beyond the 12-byte record"),
                (["good.npy", "--records", "5"], "the input has 4 records and --records is 5"),
                (["text.npy", "--key", "id"], "--key 'id' is not OFFSET:LENGTH or OFFSET:TYPE; names of fields are for"),
                (["-", "--key", "id"], "names of fields are for NumPy files")]:
            for output in [["-o", "out"], ["-c"]]:
                if output == ["-c"] and (len([word for word in words if word.endswith(".npy") or word == "-"]) > 1 or
                                         "--records" in words):
                    continue
                with open(self.path("out"), "w", encoding="ascii") as file:
                    file.write("old")
                done = self.run_in(PROGRAM, "sort", *words, *output, input=b"")
                with self.subTest(words=words + output):
                    self.assertEqual(done.returncode, 2)
                    self.assertIn(reason, done.stderr.decode())
                    self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr.decode())
                    with open(self.path("out"), encoding="ascii") as file:
                        self.assertEqual(file.read(), "old")
        done = self.run_in("bash", "-c", f"'{PROGRAM}' sort -u good.npy | cat")
        self.assertIn(b"-u of a NumPy file needs a regular file", done.stderr)
        done = self.run_in("bash", "-c", f"cat good.npy | '{PROGRAM}' sort -o out")
        self.assertIn(b"read standard input: this is a NumPy file", done.stderr)
        done = self.run_in(PROGRAM, "validate", "good.npy", "other.npy")
        self.assertEqual((done.returncode, b"the type '<f8', and those of good.npy" in done.stderr), (2, True))

    def test_options_that_describe_records_still_hold(self):
        array = self.numbers(1000)
        self.hetsort("sort", "--header", "128", "--record-size", "8", "--key", "0:i64", "in.npy", "-o", "out.npy")
        self.assertEqual(self.load("out.npy").tolist(), numpy.sort(array).tolist())
        self.hetsort("sort", "--key", "0:i64:desc", "in.npy", "-o", "out.npy")
        self.assertEqual(self.load("out.npy").tolist(), numpy.sort(array)[::-1].tolist())
        self.hetsort("compare", "--strategies", "equal,auto", "--rounds", "1", "in.npy", "-o", "out.npy")
        self.assertEqual(self.load("out.npy").tolist(), numpy.sort(array).tolist())


if __name__ == "__main__":
    unittest.main()
