# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""The Python package on the library of the build: arrays against NumPy, memory maps, files, plans, mistakes, MPI.

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

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.join(HERE, "..", "..", "lib", "python")
LIBRARY = os.path.join(os.environ.get("HETSORT_LAB_BUILD", "."), "libhetsort.so.0")
SEED = int(os.environ.get("HETSORT_TEST_SEED", "1"))
DEBIAN = "/usr/lib/python3/dist-packages"

os.environ["HETSORT_LIBRARY"] = LIBRARY
sys.path.insert(0, PACKAGE)
# Debian's packages, if another interpreter of the same version runs this.
sys.path.append(DEBIAN)
try:
    import numpy
except ImportError:
    numpy = None
import hetsort
from hetsort import _library, _sort

TYPES = ["<u1", "<u2", "<u4", "<u8", ">u4", ">u8", "<i1", "<i2", "<i4", "<i8", ">i2", "<f4", "<f8", ">f8", "S1", "S7", "?",
         "<U3", "<m8[s]"]


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
                (pairs, ValueError, "'much' is not a size", lambda: hetsort.sort(pairs, memory="much"))]:
            before = wrong.tolist()
            with self.assertRaises(kind) as raised:
                call()
            self.assertIn(text, str(raised.exception))
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


@unittest.skipIf(numpy is None, "NumPy is not installed")
class MemoryMaps(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "records")

    def tearDown(self):
        self.folder.cleanup()

    def test_larger_than_memory_are_sorted_in_place_behind_their_header(self):
        dtype = numpy.dtype([("id", "<u4"), ("place", "<u4"), ("value", "<f8")])
        with open(self.path, "wb") as file:
            file.write(b"h" * 100)
        records = numpy.memmap(self.path, dtype, "r+", offset=100, shape=1_000_000)
        source = numpy.random.default_rng(SEED)
        records["id"] = source.integers(0, 1000, len(records))
        records["place"] = numpy.arange(len(records))
        expected = records[numpy.argsort(records["id"], kind="stable")].copy()
        hetsort.sort(records, "id", memory=4 << 20)
        numpy.testing.assert_array_equal(records, expected)
        with open(self.path, "rb") as file:
            self.assertEqual(file.read(100), b"h" * 100)
        self.assertEqual(os.listdir(self.folder.name), ["records"])

    def test_a_failure_before_the_records_are_copied_back_leaves_the_file_as_it_was(self):
        records = numpy.memmap(self.path, "<u8", "w+", shape=1_000_000)
        records[:] = numpy.arange(1_000_000)[::-1]

        def complain(phase, _done, _total):
            if phase == "publish":  # at the latest when the sorted file is complete
                raise LookupError("enough")

        with self.assertRaisesRegex(LookupError, "enough"):
            hetsort.sort(records, memory=4 << 20, progress=complain)
        self.assertTrue((records == numpy.arange(1_000_000)[::-1]).all())
        self.assertEqual(os.listdir(self.folder.name), ["records"])

    def test_a_map_of_a_file_that_lost_its_name_is_left_alone(self):
        records = numpy.memmap(self.path, "<u8", "w+", shape=1_000_000)
        records[:] = numpy.arange(1_000_000)[::-1]
        os.rename(self.path, self.path + ".old")
        for create in [lambda: None, lambda: numpy.zeros(1_000_000, "<u8").tofile(self.path)]:
            create()
            with self.assertRaises(hetsort.OutOfMemory):
                hetsort.sort(records, memory=4 << 20)
            self.assertTrue((records == numpy.arange(1_000_000)[::-1]).all())

    def test_an_interrupted_copy_back_keeps_all_records_in_the_file_that_the_exception_names(self):
        records = numpy.memmap(self.path, "<u8", "w+", shape=1_000_000)
        records[:] = numpy.arange(1_000_000)[::-1]

        def interrupted(array, beside):
            array[:1000] = 0
            raise KeyboardInterrupt

        with unittest.mock.patch.object(_sort, "_copy_back", interrupted):
            with self.assertRaises(KeyboardInterrupt) as raised:
                hetsort.sort(records, memory=4 << 20)
        (kept,) = set(os.listdir(self.folder.name)) - {"records"}
        self.assertIn(os.path.join(self.folder.name, kept), raised.exception.__notes__[0])
        with open(os.path.join(self.folder.name, kept), "rb") as file:
            self.assertTrue((numpy.frombuffer(file.read(), "<u8") == numpy.arange(1_000_000)).all())

    def test_parts_of_a_map_that_memory_has_no_room_for_stay_as_they_are(self):
        records = numpy.memmap(self.path, "<u8", "w+", shape=1_000_000)
        records[:] = numpy.arange(1_000_000)[::-1]
        with self.assertRaises(hetsort.OutOfMemory):
            hetsort.sort(records[:900_000], memory=4 << 20)
        self.assertEqual(records[0], 999_999)
        hetsort.sort(records[:1000])
        self.assertEqual(records[0], 999_000)

    def test_a_map_that_is_read_only_is_refused(self):
        numpy.arange(10, dtype="<u8")[::-1].tofile(self.path)
        with self.assertRaisesRegex(ValueError, "read-only"):
            hetsort.sort(numpy.memmap(self.path, "<u8", "r"))


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
