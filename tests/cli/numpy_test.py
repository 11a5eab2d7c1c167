# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Sorts by typed keys against NumPy: random layouts against lexsort, and a .npy file with its header.

HETSORT_TEST_SEED draws other layouts, HETSORT_TEST_CASES their number."""
import os
import random
import subprocess
import sys
import tempfile
import unittest

# Debian's package, if another interpreter of the same version runs this.
sys.path.append("/usr/lib/python3/dist-packages")
try:
    import numpy
except ImportError:
    numpy = None

PROGRAM = os.path.join(os.environ.get("HETSORT_LAB_BUILD", "."), "hetsort")
SEED = int(os.environ.get("HETSORT_TEST_SEED", "1"))
CASES = int(os.environ.get("HETSORT_TEST_CASES", "20"))
RECORDS = int(os.environ.get("HETSORT_TEST_RECORDS", "20000"))
TYPES = ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8"]


class Layout:
    """Fields of random types at random offsets, some of which are keys."""

    def __init__(self, draw):
        self.draw = draw
        self.size = draw.choice([16, 24, 60, 100, 257])
        self.keys = []
        offset = 0
        names, formats, offsets = [], [], []
        for number in range(draw.choice([1, 1, 2, 2, 3, 5])):
            kind = draw.choice(TYPES)
            offset += draw.randrange(3)
            if offset + int(kind[1]) > self.size:
                break
            names.append(f"k{number}")
            formats.append(draw.choice("<>") + kind)
            offsets.append(offset)
            self.keys.append((names[-1], draw.random() < 0.3))
            offset += int(kind[1])
        self.dtype = numpy.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": self.size})

    def options(self):
        words = ["--record-size", str(self.size)]
        for name, descending in self.keys:
            dtype, offset = self.dtype.fields[name][:2]
            big = "be" if dtype.str[0] == ">" else ""
            words += ["--key", f"{offset}:{dtype.kind}{8 * dtype.itemsize}{big}{':desc' if descending else ''}"]
        return words

    def records(self, count):
        """Random bytes; each key has few values, random bits, or numbers at which orders break."""
        source = numpy.random.default_rng(self.draw.randrange(2**32))
        records = numpy.frombuffer(source.bytes(count * self.size), dtype=self.dtype).copy()
        for name, _ in self.keys:
            kind = self.dtype.fields[name][0].kind
            style = self.draw.choice(["random", "few", "special"])
            if style == "few":
                records[name] = source.integers(0, 5, count)
            elif style == "special" and kind == "f":
                values = numpy.array([0.0, -0.0, numpy.nan, -numpy.nan, numpy.inf, -numpy.inf, 1.0, -1.0])
                records[name] = values[source.integers(0, len(values), count)]
        return records

    def order(self, records):
        """The order of lexsort. It knows no descending keys: their ranks are reversed."""
        columns = []
        for name, descending in self.keys:
            column = records[name].astype(records[name].dtype.newbyteorder("="))
            if descending:
                column = -numpy.unique(column, return_inverse=True)[1].reshape(-1)
            columns.append(column)
        return numpy.lexsort(columns[::-1])


@unittest.skipIf(numpy is None, "NumPy is missing")
class NumPy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def sort(self, words):
        subprocess.run([PROGRAM, "sort", "-q", *words, self.path("in"), "-o", self.path("out")], check=True)

    def test_typed_keys_sort_as_lexsort_does(self):
        for case in range(CASES):
            seed = 1000 * SEED + case
            draw = random.Random(seed)
            layout = Layout(draw)
            records = layout.records(RECORDS)
            records.tofile(self.path("in"))
            memory = draw.choice([[], ["-S", "1M", "-T", self.folder]])
            with self.subTest(seed=seed, options=layout.options() + memory), numpy.errstate(invalid="ignore"):
                self.sort(layout.options() + memory)
                with open(self.path("out"), "rb") as file:
                    # NumPy does not copy the bytes between fields: whole records are rows of bytes.
                    rows = records.view("u1").reshape(RECORDS, layout.size)
                    self.assertTrue(file.read() == rows[layout.order(records)].tobytes())

    def test_a_numpy_file_is_sorted_behind_its_header(self):
        records = numpy.zeros(1000, dtype=[("id", "<u8"), ("name", "S8"), ("score", "<f8")])
        records["id"] = numpy.arange(1000) % 7
        records["score"] = numpy.random.default_rng(SEED).random(1000)
        numpy.save(self.path("in.npy"), records)
        os.rename(self.path("in.npy"), self.path("in"))
        header = os.path.getsize(self.path("in")) - records.nbytes
        self.sort(["--header", str(header), "--record-size", "24", "--key", "0:u64", "--key", "16:f64:desc"])
        with open(self.path("out"), "rb") as file:
            found = numpy.load(file)
        self.assertTrue((found == records[numpy.lexsort((-records["score"], records["id"]))]).all())


if __name__ == "__main__":
    unittest.main()
