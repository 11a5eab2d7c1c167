# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""The Python package on the library of the build: arrays against NumPy, files, plans, mistakes, MPI.

HETSORT_TEST_SEED draws other arrays."""
import inspect
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock

from package import DEBIAN, HERE, PACKAGE, SEED, numpy

import hetsort
from hetsort import _layout, _library

TYPES = ["<u1", "<u2", "<u4", "<u8", ">u4", ">u8", "<i1", "<i2", "<i4", "<i8", ">i2", "<f2", "<f4", "<f8", ">f8", "S1",
         "S7", "?", "<U3", "<m8[s]"]


def fill(dtype, count, source):
    """Random values of which many are equal."""
    array = numpy.zeros(count, dtype)
    for name in dtype.names:
        kind = dtype[name].kind
        values = source.integers(0, 5, count) - (2 if kind in "if" else 0)
        array[name] = values.astype("U1") if kind in "SU" else values.astype(dtype[name])
    return array


@unittest.skipIf(numpy is None, "NumPy is not installed")
class Arrays(unittest.TestCase):
    def test_random_records_are_sorted_as_numpy_sorts_them(self):
        draw = random.Random(SEED)
        for _ in range(25):
            names = [f"f{i}" for i in range(draw.choice([1, 2, 4]))]
            dtype = numpy.dtype([(name, draw.choice(TYPES)) for name in names], align=draw.random() < 0.5)
            array = fill(dtype, draw.choice([0, 1, 2, 1000, 20000]), numpy.random.default_rng(draw.randrange(2**32)))
            order = draw.sample(names, draw.randrange(1, len(names) + 1))
            expected = array[numpy.lexsort([array[name] for name in reversed(order)])] if len(array) else array.copy()
            with self.subTest(seed=SEED, dtype=dtype, order=order, records=len(array)):
                self.assertIs(hetsort.sort(array, order=order), array)
                numpy.testing.assert_array_equal(array, expected)

    def test_directions_and_plain_types(self):
        for dtype in ["<u8", ">i4", "<f4", "<i2"]:
            array = numpy.array([3, 1, 2, 1, 100], dtype)
            self.assertEqual(hetsort.sort(array).tolist(), [1, 1, 2, 3, 100])
            self.assertEqual(hetsort.sort(array, "desc").tolist(), [100, 3, 2, 1, 1])
        pairs = numpy.array([(1, 5.0), (0, 1.0), (1, 7.0)], [("id", "<u4"), ("value", "<f8")])
        hetsort.sort(pairs, order=[("id", "asc"), ("value", "desc")])
        self.assertEqual(pairs.tolist(), [(0, 1.0), (1, 7.0), (1, 5.0)])
        points = numpy.array([((2, 1), 1 + 2j), ((1, 9), 5j), ((2, 1), 1 + 1j)], [("at", "<i4", 2), ("z", "<c16")])
        hetsort.sort(points)
        self.assertEqual(points["z"].tolist(), [5j, 1 + 1j, 1 + 2j])

    def test_numbers_of_16_bits_are_sorted_as_numpy_sorts_them(self):
        every = numpy.arange(2**16, dtype="<u2").view("<f2")
        for dtype in ["<f2", ">f2"]:
            array = numpy.random.default_rng(SEED).permutation(every).astype(dtype)
            expected = numpy.sort(array, kind="stable")
            hetsort.sort(array)
            numpy.testing.assert_array_equal(array, expected)
            self.assertTrue((numpy.isnan(array) == numpy.isnan(expected)).all())

    def test_too_many_keys_are_refused_at_once_and_in_words_of_python(self):
        for dtype, text in [([("a", "u1", (80_000,)), ("b", "u1")], "a record has more than 1024 keys"),
                            ([("a", [("b", "<c8", (10**8,))])], "a record has more than 1024 keys"),
                            ([(f"f{i}", "u1") for i in range(1025)], "order can name fewer fields"),
                            ("<U1025", "<U1025 has more than 1024 keys"),
                            ("S4097", "the keys of |S4097 have more than 4096 bytes together")]:
            with unittest.mock.patch.object(_layout, "_numbers", wraps=_layout._numbers) as numbers:
                with self.assertRaises(ValueError) as raised:
                    _layout.keys_of(numpy.dtype(dtype))
            self.assertLessEqual(numbers.call_count, 1025)
            self.assertIn(text, str(raised.exception))
        self.assertEqual(len(_layout.keys_of(numpy.dtype("<U1024"))), 1024)
        self.assertEqual(_layout.keys_of(numpy.dtype([("none", [], (10**9,)), ("a", "u1")])), ["0:u8"])

    def test_long_strings_texts_and_many_fields(self):
        source = numpy.random.default_rng(SEED)
        for array in [source.integers(0, 2, 300).astype("U1").astype("S4000"),
                      numpy.array(["x" * 900 + str(each) for each in source.integers(0, 40, 300)], "<U910")]:
            expected = numpy.sort(array, kind="stable")
            self.assertEqual(hetsort.sort(array).tolist(), expected.tolist())
        source = numpy.random.default_rng(SEED)
        long = numpy.zeros(300, [("text", "<U1500"), ("bytes", "S5000"), ("numbers", "<u2", 1100)])
        long["text"] = ["x" * 1400 + str(each) for each in source.integers(0, 3, 300)]
        long["bytes"] = [b"y" * 4500 + bytes([65 + each]) for each in source.integers(0, 3, 300)]
        long["numbers"][:, 1090] = source.integers(0, 3, 300)
        keys = [long["numbers"][:, 1090], long["bytes"], long["text"]]
        wanted = numpy.lexsort(keys)
        self.assertEqual(hetsort.argsort(long).tolist(), wanted.tolist())
        self.assertTrue((hetsort.sort(long.copy()) == long[wanted]).all())
        down = hetsort.argsort(long, order=[("bytes", "desc"), "text"])
        self.assertEqual(down.tolist(), sorted(range(300), key=lambda at: (-long["bytes"][at][4500], long["text"][at])))
        many = numpy.zeros(500, [(f"f{i}", "<u2") for i in range(100)])
        many["f97"], many["f99"] = source.integers(0, 4, 500), source.integers(0, 4, 500)
        self.assertEqual(hetsort.sort(many).tolist(), sorted(many.tolist()))

    def test_argsort_gives_the_places_that_numpy_gives(self):
        source = numpy.random.default_rng(SEED)
        for kind in ["<u8", ">i4", "<f2", "S3", [("id", "<u1"), ("value", "<f4")]]:
            array = numpy.zeros(5000, kind)
            for name in array.dtype.names or [...]:
                array[name] = source.integers(0, 50, 5000).astype("S2" if kind == "S3" else "i8")
            keys = [array] if array.dtype.names is None else [array["value"], array["id"]]
            before, expected = array.copy(), numpy.lexsort(keys)
            with self.subTest(seed=SEED, kind=kind), tempfile.TemporaryDirectory() as folder:
                self.assertEqual(hetsort.argsort(array).tolist(), expected.tolist())
                out = numpy.memmap(os.path.join(folder, "out"), "<i8", "w+", shape=array.shape)
                self.assertIs(hetsort.argsort(array, out=out, memory="64K", temp=folder), out)
                self.assertEqual(out.tolist(), expected.tolist())
                self.assertEqual(os.listdir(folder), ["out"])
                self.assertTrue((array == before).all())
        down = hetsort.argsort(numpy.array([1, 3, 1, 3]), descending=True)
        self.assertEqual(down.tolist(), [1, 3, 0, 2])
        array = numpy.array([2, 0, 1])
        for out in [numpy.zeros(3, ">i8"), numpy.zeros(6, "<i8")[::2], array.copy()]:
            array.flags.writeable = False
            self.assertEqual(hetsort.argsort(array, out=out).tolist(), [1, 2, 0])
        array = array.copy()
        self.assertEqual(hetsort.argsort(array, out=array).tolist(), [1, 2, 0])
        self.assertEqual(hetsort.argsort(numpy.zeros(0)).tolist(), [])
        with self.assertRaisesRegex(ValueError, "integers of 64 bits"):
            hetsort.argsort(numpy.zeros(3), out=numpy.zeros(3))

    def test_a_payload_is_put_in_the_same_order(self):
        source = numpy.random.default_rng(SEED)
        array = source.integers(0, 20, 3000)
        places, rows = numpy.arange(3000), source.random((3000, 3))
        before, wanted = (array.copy(), rows.copy()), numpy.lexsort([-array])
        self.assertIs(hetsort.sort(array, payload=[places, rows], descending=True), array)
        self.assertEqual(places.tolist(), wanted.tolist())
        self.assertTrue((array == before[0][wanted]).all() and (rows == before[1][wanted]).all())
        for payload, text in [([numpy.zeros(2)], "as long as the array"), ([[1] * 3000], "a list of arrays")]:
            with self.assertRaisesRegex(ValueError, text):
                hetsort.sort(array, payload=payload)

    def test_numpy_files_need_no_dtype(self):
        with tempfile.TemporaryDirectory() as folder:
            one, two = os.path.join(folder, "x.npy"), os.path.join(folder, "y.npy")
            array = numpy.array([(2, 1.0), (1, 5.0), (2, 0.5)], [("id", "<u4"), ("value", "<f8")])
            numpy.save(one, array)
            for words, expected in [({}, [1, 2, 0]), ({"order": [("id", "desc")]}, [0, 2, 1]),
                                    ({"descending": True}, [0, 2, 1])]:
                hetsort.sort_file(one, two, **words)
                self.assertEqual(numpy.load(two).tolist(), array[expected].tolist())
            with self.assertRaisesRegex(ValueError, "the fields are id, value"):
                hetsort.sort_file(one, two, order="missing")
            array.tofile(one)
            with self.assertRaisesRegex(ValueError, "order needs a dtype, unless the inputs are NumPy files"):
                hetsort.sort_file(one, two, order="id")

    def test_views_are_sorted_where_they_are(self):
        whole = numpy.arange(20, dtype="<u8")[::-1].copy()
        hetsort.sort(whole[::2])
        self.assertEqual(whole[::2].tolist(), list(range(1, 20, 2)))
        self.assertEqual(whole[1::2].tolist(), list(range(18, -1, -2)))

    def test_mistakes_are_clear_exceptions_and_change_nothing(self):
        pairs = numpy.array([(2, 0), (1, 0)], [("id", "<u4"), ("value", "<u4")])
        locked = numpy.array([2, 1])
        locked.flags.writeable = False
        for wrong, kind, text, call in [
                (locked, ValueError, "read-only", lambda: hetsort.sort(locked)),
                (pairs, ValueError, "'missing'; the fields are id, value", lambda: hetsort.sort(pairs, "missing")),
                (pairs, ValueError, "'up'", lambda: hetsort.sort(pairs, [("id", "up")])),
                (pairs, ValueError, "a list of names and of pairs", lambda: hetsort.sort(pairs, {"id": "desc"})),
                (pairs, ValueError, "a list of names and of pairs", lambda: hetsort.sort(pairs, [("id",)])),
                (pairs, ValueError, "names no field", lambda: hetsort.sort(pairs, [])),
                (pairs, ValueError, "3 records together, but there are 2", lambda: hetsort.sort(pairs, share=3)),
                (pairs, ValueError, "below 0", lambda: hetsort.sort(pairs, share=-1)),
                (pairs, ValueError, "'much' is not a size", lambda: hetsort.sort(pairs, memory="much")),
                (pairs, ValueError, "'threads' wants 1 to", lambda: hetsort.sort(pairs, threads=0))]:
            before = wrong.tolist()
            with self.assertRaises(kind) as raised:
                call()
            self.assertIn(text, str(raised.exception))
            self.assertNotRegex(str(raised.exception), "(^| |')--?[a-zA-Z]")
            self.assertEqual(wrong.tolist(), before)
        objects = numpy.array([(1, "a")], [("id", "<u4"), ("name", "O")])
        with self.assertRaisesRegex(TypeError, "Python objects"):
            hetsort.sort(objects, "id")
        with self.assertRaisesRegex(ValueError, "2 dimensions"):
            hetsort.sort(numpy.zeros((2, 2)))
        with self.assertRaisesRegex(TypeError, "not an array"):
            hetsort.sort([2, 1])
        with self.assertRaisesRegex(hetsort.OutOfMemory, "does not suffice"):
            hetsort.sort(numpy.zeros(10**6), memory="1M")

    def test_ctrl_c_ends_the_sort_and_raises_keyboard_interrupt(self):
        array = numpy.random.default_rng(1).integers(0, 2**62, 2_000_000)
        before = array.copy()
        lib = _library.library()
        cancel, cancelled = lib.hetsort_cancel, threading.Event()

        def note_cancel(options):
            cancel(options)
            cancelled.set()

        # The sort does not end before it is cancelled.
        def interrupt(_phase, _done, _total):
            if not cancelled.is_set():
                os.kill(os.getpid(), signal.SIGINT)
                cancelled.wait(30)

        with unittest.mock.patch.object(lib, "hetsort_cancel", note_cancel), self.assertRaises(KeyboardInterrupt):
            hetsort.sort(array, progress=interrupt)
        self.assertTrue((array == before).all())

    def test_an_exception_of_the_progress_function_ends_the_sort(self):
        def complain(_phase, _done, _total):
            raise LookupError("enough")

        with self.assertRaisesRegex(LookupError, "enough"):
            hetsort.sort(numpy.zeros(1000), progress=complain)

    def test_an_exception_after_all_records_are_sorted_changes_nothing(self):
        array = numpy.arange(100_000)[::-1].copy()

        def complain(phase, _done, _total):
            if phase == "publish":
                raise LookupError("enough")

        with self.assertRaisesRegex(LookupError, "enough"):
            hetsort.sort(array, progress=complain)
        self.assertEqual(array[0], 99_999)

    def test_a_library_older_than_the_package_is_refused(self):
        self.assertEqual(_library.library().hetsort_version(), _library.HEADER_VERSION)
        _library.HEADER_VERSION += 1
        try:
            with self.assertRaisesRegex(hetsort.RequestError, "older than the headers"):
                hetsort.sort(numpy.zeros(3))
        finally:
            _library.HEADER_VERSION -= 1


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.input = os.path.join(self.folder.name, "in")
        self.output = os.path.join(self.folder.name, "out")

    def tearDown(self):
        self.folder.cleanup()

    def test_are_sorted_with_the_options_of_the_program(self):
        with open(self.input, "wb") as file:
            file.write(b"b1a2b1c3")
        report = hetsort.sort_file(self.input, self.output, record_size=2, key="0:1", unique=True, no_sync=True)
        with open(self.output, "rb") as file:
            self.assertEqual(file.read(), b"a2b1c3")
        self.assertEqual(report["schema"], "hetsort.run/1")

    def test_may_be_pipes_that_another_thread_writes_during_the_call(self):
        os.mkfifo(self.input)

        def write():
            with open(self.input, "wb") as file:
                file.write(b"b1a2b1c3")

        writer = threading.Thread(target=write, daemon=True)
        writer.start()
        hetsort.sort_file(self.input, self.output, record_size=2, key="0:1", no_sync=True)
        writer.join()
        with open(self.output, "rb") as file:
            self.assertEqual(file.read(), b"a2b1b1c3")

    @unittest.skipIf(numpy is None, "NumPy is not installed")
    def test_are_sorted_by_the_fields_of_a_dtype(self):
        pairs = numpy.array([(1, 5), (0, 1), (1, 7)], [("id", "<u4"), ("value", "<i4")])
        pairs.tofile(self.input)
        hetsort.sort_file([self.input], self.output, dtype=pairs.dtype, order=["id", ("value", "desc")], threads=1)
        self.assertEqual(numpy.fromfile(self.output, pairs.dtype).tolist(), [(0, 1), (1, 7), (1, 5)])

    def test_are_sorted_into_several(self):
        with open(self.input, "wb") as file:
            file.write(b"b1a2b3c4a5")
        outputs = [self.output, pathlib.Path(self.folder.name) / "second"]
        report = hetsort.sort_file(self.input, outputs, record_size=2, key="0:1")
        self.assertEqual([open(path, "rb").read() for path in outputs], [b"a2a5b1", b"b3c4"])
        self.assertEqual([each["bytes"] for each in report["ranks"][0]["outputs"]], [6, 4])
        with self.assertRaisesRegex(ValueError, "no output is named"):
            hetsort.sort_file(self.input, [], record_size=2)

    def test_that_are_missing_are_named_in_the_error(self):
        with self.assertRaises(hetsort.FileError) as raised:
            hetsort.sort_file(self.input, self.output)
        error = raised.exception
        self.assertEqual((error.rank, error.operation, error.path, error.reason),
                         (0, "open", self.input, "No such file or directory"))
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_of_a_request_with_mistakes_are_not_touched(self):
        for options in [{"frobnicate": True}, {"record_size": 0}, {"key": "a"}, {"dtype": "<u8", "key": "0:8"},
                        {"order": "id"}]:
            with self.assertRaises(ValueError):
                hetsort.sort_file(self.input, self.output, **options)
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_with_mistakes_are_explained_without_the_spelling_of_the_command_line(self):
        with open(self.input, "wb") as file:
            file.write(b"b1a2b1c3")
        for options, text in [({"record_size": 0}, "'record_size' wants 1 to 1048576, not 0"),
                              ({"key": "a"}, "'key' 'a' is not OFFSET:LENGTH"),
                              ({"key": ["0:u8"] * 1025}, "'key' is given 1025 times"),
                              ({"frobnicate": True}, "'frobnicate'"),
                              ({"verify_output": True, "no_sync": True}, "it excludes 'no_sync'"),
                              ({"verify_output": True, "unique": True}, "it excludes 'unique'"),
                              ({"record_size": 3}, "with 'record_size', and")]:
            with self.subTest(options=options), self.assertRaises(hetsort.Error) as raised:
                hetsort.sort_file(self.input, self.output, **options)
            self.assertIn(text, str(raised.exception))
        missing = self.input + " --key -S 1"  # the name of a file stays as it is
        with self.assertRaises(hetsort.FileError) as raised:
            hetsort.sort_file(missing, self.output)
        self.assertEqual(str(raised.exception), f"open {missing}: No such file or directory")


class Plans(unittest.TestCase):
    def test_share_records_by_speed(self):
        plan = hetsort.plan(3_000_000, speeds=[1, 2], strategy="proportional")
        self.assertEqual(plan.shares, [1_000_000, 2_000_000])
        self.assertEqual((plan.strategy, plan.records, len(plan.nodes)), ("proportional", 3_000_000, 2))
        with self.assertRaises(hetsort.RequestError):
            hetsort.plan(10, speeds=[1, -1])


class Package(unittest.TestCase):
    def test_public_names_have_docstrings_and_type_hints(self):
        self.assertTrue(os.path.exists(os.path.join(PACKAGE, "hetsort", "py.typed")))
        for name in hetsort.__all__:
            thing = getattr(hetsort, name)
            if inspect.isfunction(thing) or inspect.isclass(thing):
                self.assertTrue(thing.__doc__, name)
            if inspect.isfunction(thing):
                hints = thing.__annotations__
                self.assertEqual(set(hints), set(inspect.signature(thing).parameters) | {"return"}, name)


def has_mpi4py(python):
    return subprocess.run([python, "-c", "import sys; sys.path.append('%s'); import mpi4py.MPI" % DEBIAN],
                          check=False, capture_output=True).returncode == 0


class Mpi(unittest.TestCase):
    def test_ranks_of_mpi4py_sort_together_and_fail_together(self):
        if not shutil.which("mpirun") or not has_mpi4py(sys.executable):
            self.skipTest("Open MPI or mpi4py is not installed")
        environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                       "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
                       "PYTHONPATH": os.pathsep.join([PACKAGE, DEBIAN])}
        for ranks in ["1", "3"]:
            done = subprocess.run(["mpirun", "--oversubscribe", "--bind-to", "none", "-n", ranks, sys.executable, "-B",
                                   os.path.join(HERE, "mpi_ranks.py")], env=environment, capture_output=True, text=True,
                                  timeout=120, check=False)
            self.assertEqual((done.returncode, done.stdout.count("all is well")), (0, int(ranks)), done.stderr)


if __name__ == "__main__":
    unittest.main()
