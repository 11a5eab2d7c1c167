# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Memory maps that the Python package sorts: in memory, as files, at the same time, killed, and with planted names."""
import contextlib
import errno
import fcntl
import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

from package import FAULTY_LIBRARY, HERE, SEED, numpy

import hetsort
from hetsort import _memory_map

COUNT = 300_000
BYTES = 8 * COUNT
#: Too little to sort the records in memory.
SMALL = 1 << 20
NONCE = "0123456789abcdef" * 2

#: A program that sorts the map of a file. It is given more lines to run before.
PROGRAM = """
import os, signal, sys
sys.path.insert(0, {here!r})
from package import numpy
import hetsort
from hetsort import _memory_map
options = {{}}
{lines}
hetsort.sort(numpy.memmap({path!r}, "<u8", "r+"), memory={memory}, **options)
"""

#: Kills the program while the copy is synced, before it has a name.
KILL_IN_SYNC = """
options = {"progress": lambda phase, *_: os.kill(os.getpid(), signal.SIGKILL) if phase == "publish" else None}
"""
SLOW_SYNC = "sync:1:delay5000"


@unittest.skipIf(numpy is None, "NumPy is not installed")
class MemoryMapCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(self.folder, "records")
        self.fill()

    def fill(self, count=COUNT):
        """Writes a new file of numbers in falling order."""
        numpy.arange(count, dtype="<u8")[::-1].tofile(self.path)

    def map(self):
        return numpy.memmap(self.path, "<u8", "r+")

    def others(self):
        """The names beside the records."""
        return sorted(set(os.listdir(self.folder)) - {"records"})

    def is_sorted(self, path=None):
        return bool((numpy.fromfile(path or self.path, "<u8") == numpy.arange(COUNT)).all())

    def expect_untouched(self):
        self.assertTrue((numpy.fromfile(self.path, "<u8") == numpy.arange(COUNT)[::-1]).all())

    def start(self, lines="", memory=SMALL, faults=""):
        text = PROGRAM.format(here=HERE, lines=lines, path=self.path, memory=memory)
        variables = {"HETSORT_FAULTS": faults, "HETSORT_LIBRARY": FAULTY_LIBRARY} if faults else {}
        return subprocess.Popen([sys.executable, "-B", "-c", text], stderr=subprocess.PIPE, text=True,
                                env={**os.environ, **variables})

    def run_killed(self, lines, faults=""):
        """Runs a sort that kills itself."""
        process = self.start(lines, faults=faults)
        with process.stderr:
            error = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, -signal.SIGKILL, error)


class MemoryMaps(MemoryMapCase):
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
        self.assertEqual(self.others(), [])

    def test_behind_a_link_are_sorted_where_they_are(self):
        link = os.path.join(self.folder, "link")
        os.symlink("records", link)
        hetsort.sort(numpy.memmap(link, "<u8", "r+"), memory=SMALL)
        self.assertTrue(self.is_sorted())
        self.assertEqual((self.others(), os.readlink(link)), (["link"], "records"))

    def test_a_failure_before_the_records_are_copied_back_leaves_the_file_as_it_was(self):
        def complain(phase, _done, _total):
            if phase == "publish":  # at the latest when the sorted file is complete
                raise LookupError("enough")

        with self.assertRaisesRegex(LookupError, "enough"):
            hetsort.sort(self.map(), memory=SMALL, progress=complain)
        self.expect_untouched()
        self.assertEqual(self.others(), [])

    def test_a_map_of_a_file_that_lost_its_name_is_left_alone(self):
        records = self.map()
        os.rename(self.path, self.path + ".old")
        for create in [lambda: None, self.fill]:
            create()
            with self.assertRaises(hetsort.OutOfMemory):
                hetsort.sort(records, memory=SMALL)
            self.assertEqual(records[0], COUNT - 1)

    def test_parts_of_a_map_that_memory_has_no_room_for_stay_as_they_are(self):
        records = self.map()
        with self.assertRaises(hetsort.OutOfMemory):
            hetsort.sort(records[:COUNT - 1000], memory=SMALL)
        self.assertEqual(records[0], COUNT - 1)
        hetsort.sort(records[:1000])
        self.assertEqual(records[0], COUNT - 1000)

    def test_a_map_that_is_read_only_is_refused(self):
        with self.assertRaisesRegex(ValueError, "read-only"):
            hetsort.sort(numpy.memmap(self.path, "<u8", "r"))

    def test_the_copy_is_for_the_owner_alone_whatever_the_umask_is(self):
        modes = []
        write = os.pwrite

        def look(*call):
            modes.extend(stat.S_IMODE(os.stat(os.path.join(self.folder, name)).st_mode) for name in self.others())
            return write(*call)

        os.chmod(self.path, 0o644)
        self.addCleanup(os.umask, os.umask(0))
        with unittest.mock.patch.object(os, "pwrite", look):
            hetsort.sort(self.map(), memory=SMALL)
        self.assertEqual(modes, [0o600])
        self.assertEqual(stat.S_IMODE(os.stat(self.path).st_mode), 0o644)

    def test_ctrl_c_while_records_are_copied_back_waits_for_the_end(self):
        write = os.pwrite

        def interrupt(*call):
            os.kill(os.getpid(), signal.SIGINT)
            return write(*call)

        with unittest.mock.patch.object(os, "pwrite", interrupt), self.assertRaises(KeyboardInterrupt):
            hetsort.sort(self.map(), memory=SMALL)
        self.assertTrue(self.is_sorted())
        self.assertEqual(self.others(), [])

    def test_a_copy_that_fails_keeps_all_records_in_the_file_that_the_exception_names(self):
        def fail(*_call):
            self.map()[:1000] = 0
            raise OSError(errno.ENOSPC, "No space left on device")

        with unittest.mock.patch.object(os, "pwrite", fail), self.assertRaises(hetsort.FileError) as raised:
            hetsort.sort(self.map(), memory=SMALL)
        (kept,) = self.others()
        self.assertEqual(raised.exception.path, self.path)
        self.assertIn("No space left", str(raised.exception))
        self.assertIn(os.path.join(self.folder, kept), raised.exception.__cause__.__notes__[0])
        self.assertTrue(self.is_sorted(os.path.join(self.folder, kept)))
        with self.assertRaisesRegex(hetsort.FileError, kept):
            hetsort.sort(self.map())


class Locks(MemoryMapCase):
    def test_of_two_threads_that_sort_a_map_one_is_refused_or_later(self):
        for _ in range(5):
            self.fill()
            start, refused = threading.Barrier(2), []

            def sort(start=start, refused=refused):
                records = self.map()
                start.wait()
                try:
                    hetsort.sort(records, memory=SMALL)
                except hetsort.FileError as error:
                    refused.append(str(error))

            threads = [threading.Thread(target=sort) for _ in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertTrue(self.is_sorted())
            self.assertLess(len(refused), 2)
            for text in refused:
                self.assertIn("another sort works on records of this file", text)
            self.assertEqual(self.others(), [])

    def test_of_two_processes_that_sort_a_map_one_is_refused(self):
        # The first one waits with its lock until the second one has ended.
        process = self.start(f"""
def wait(phase, done, total):
    open({self.path + ".locked"!r}, "w").close()
    while not os.path.exists({self.path + ".end"!r}): pass
options = {{"progress": wait}}
""")
        with process.stderr:
            deadline = time.monotonic() + 60
            while not os.path.exists(self.path + ".locked") and time.monotonic() < deadline:
                time.sleep(0.01)
            for memory in [SMALL, None]:  # as a file, and in memory
                with self.assertRaisesRegex(hetsort.FileError, "another sort works on records of this file"):
                    hetsort.sort(self.map(), memory=memory)
            with open(self.path + ".end", "wb"):
                pass
            self.assertEqual((process.communicate(timeout=60)[1], process.returncode), ("", 0))
        self.assertTrue(self.is_sorted())

    def test_records_are_locked_and_not_the_whole_file(self):
        records = self.map()
        outcomes = {}

        def sort_others(_phase, _done, _total):
            for name, array in [("same", records[10:1000]), ("strided", records[998::7]), ("reversed", records[999::-1]),
                                ("view", numpy.asarray(records)[:1]), ("behind", records[1000:2000]),
                                ("as a file", records)]:
                try:
                    hetsort.sort(array, memory=SMALL)
                    outcomes[name] = "sorted"
                except hetsort.FileError:
                    outcomes[name] = "refused"

        hetsort.sort(records[:1000], progress=sort_others)
        self.assertEqual(outcomes, {"same": "refused", "strided": "refused", "reversed": "refused", "view": "refused",
                                    "behind": "sorted", "as a file": "refused"})
        self.assertEqual(records[:1000].tolist(), list(range(COUNT - 1000, COUNT)))
        self.assertEqual(records[1000], COUNT - 2000)

    def test_a_process_that_was_forked_meanwhile_does_not_keep_the_lock(self):
        read, write = os.pipe()
        program = f"""
import threading
once = threading.Lock()
def fork(phase, done, total):
    if once.acquire(blocking=False) and os.fork() == 0:
        os.read({read}, 1)
        os._exit(0)
options = {{"progress": fork}}
"""
        text = PROGRAM.format(here=HERE, lines=program, path=self.path, memory=SMALL)
        try:
            done = subprocess.run([sys.executable, "-B", "-c", text], check=False, stderr=subprocess.DEVNULL,
                                  pass_fds=[read], timeout=60)
            self.assertEqual(done.returncode, 0)
            hetsort.sort(self.map(), memory=SMALL)
            self.assertTrue(self.is_sorted())
        finally:
            os.close(read)
            os.close(write)  # which ends the forked process

    def test_without_locks_a_map_is_sorted_in_memory_only(self):
        def refuse(_descriptor, command, *_rest):
            raise OSError(errno.ENOLCK, f"no locks for {command}")

        with unittest.mock.patch.object(fcntl, "fcntl", refuse):
            with self.assertRaisesRegex(hetsort.FileError, "this file system has no locks"):
                hetsort.sort(self.map(), memory=SMALL)
            self.expect_untouched()
            hetsort.sort(self.map())
        self.assertTrue(self.is_sorted())


class Kills(MemoryMapCase):
    def test_while_records_are_copied_back_are_noticed_by_the_next_sort(self):
        for piece in [1, 2, 4]:
            with self.subTest(piece=piece):
                self.fill()
                self.run_killed(f"""
_memory_map._PIECE_BYTES = {BYTES // 4}
write, written = os.pwrite, []
def kill(*call):
    written.append(len(call[1]) if len(written) < {piece} - 1 else os.kill(os.getpid(), signal.SIGKILL))
    return write(*call)
os.pwrite = kill
""")
                (copy,) = self.others()
                copy = os.path.join(self.folder, copy)
                self.assertTrue(self.is_sorted(copy))
                for memory in [SMALL, None]:
                    before = numpy.fromfile(self.path, "<u8")
                    with self.assertRaises(hetsort.FileError) as raised:
                        hetsort.sort(self.map(), memory=memory)
                    self.assertIn(f"They are in {copy}: copy it over this file", str(raised.exception))
                    self.assertEqual(raised.exception.path, self.path)
                    self.assertTrue((numpy.fromfile(self.path, "<u8") == before).all())
                with open(copy, "rb") as source, open(self.path, "r+b") as target:  # as the message says
                    target.write(source.read())
                os.unlink(copy)
                hetsort.sort(self.map(), memory=SMALL)
                self.assertTrue(self.is_sorted())

    def test_before_that_leave_the_file_and_no_copy(self):
        self.run_killed(KILL_IN_SYNC, faults=SLOW_SYNC)
        self.expect_untouched()
        self.assertEqual(self.others(), [])

    def test_where_files_need_names_leave_one_that_the_next_sort_removes(self):
        for number in range(1, 20):  # one of the files that the sort opens is the copy, without a name
            process = self.start(KILL_IN_SYNC, faults=f"{SLOW_SYNC},open:{number}:EINVAL")
            with process.stderr:
                process.communicate(timeout=60)
            if self.others():
                break
        (part,) = self.others()
        self.assertRegex(part, r"^\.\.records\.hetsort-[0-9a-f]{32}\.sorted\.hetsort-[0-9a-f]{32}\.part$")
        used = part[:-len("0.part")] + ("1" if part[-6] == "0" else "0") + ".part"
        with open(os.path.join(self.folder, used), "wb") as locked:
            fcntl.flock(locked, fcntl.LOCK_EX)
            hetsort.sort(self.map(), memory=SMALL)
            self.assertEqual(self.others(), [used])
        self.assertTrue(self.is_sorted())


class PlantedNames(MemoryMapCase):
    """What others put beside the file is neither followed nor changed, and stops no sort."""

    def expect_sorted_beside(self, *names):
        for memory in [SMALL, None]:
            self.fill()
            hetsort.sort(self.map(), memory=memory)
            self.assertTrue(self.is_sorted())
            self.assertEqual(self.others(), sorted(names))

    def test_links(self):
        with tempfile.NamedTemporaryFile() as target:
            target.write(b"x" * BYTES)
            target.flush()
            os.chmod(target.name, 0o600)
            names = [f".records.hetsort-{NONCE}.sorted", f"..records.hetsort-{NONCE}.sorted.hetsort-{NONCE}.part",
                     f".records.hetsort-sorted-{os.getpid()}"]
            for name in names:
                os.symlink(target.name, os.path.join(self.folder, name))
            self.expect_sorted_beside(*names)
            with open(target.name, "rb") as file:
                self.assertEqual(file.read(), b"x" * BYTES)

    def test_pipes(self):
        names = [f".records.hetsort-{NONCE}.sorted", f"..records.hetsort-{NONCE}.sorted.hetsort-{NONCE}.part",
                 f".records.hetsort-sorted-{os.getpid()}"]
        for name in names:
            os.mkfifo(os.path.join(self.folder, name), 0o600)
        self.expect_sorted_beside(*names)

    def test_files(self):
        texts = {f".records.hetsort-{NONCE}.sorted": b"short", f".records.hetsort-{NONCE[::-1]}.sorted": b"x" * BYTES,
                 f".records.hetsort-{NONCE}.sorted.txt": b"x" * BYTES, f".records.hetsort-sorted-{os.getpid()}": b"mine"}
        for name, text in texts.items():
            with open(os.path.join(self.folder, name), "wb") as file:
                file.write(text)
            os.chmod(file.name, 0o604 if NONCE[::-1] in name else 0o600)  # a copy would be for its owner alone
        self.expect_sorted_beside(*texts)
        for name, text in texts.items():
            with open(os.path.join(self.folder, name), "rb") as file:
                self.assertEqual(file.read(), text)

    def test_a_second_name_of_a_file_is_no_copy(self):
        with open(os.path.join(self.folder, "mine"), "wb") as file:
            file.write(b"x" * BYTES)
        os.chmod(file.name, 0o600)
        os.link(file.name, os.path.join(self.folder, f".records.hetsort-{NONCE}.sorted"))
        self.expect_sorted_beside("mine", f".records.hetsort-{NONCE}.sorted")

    @unittest.skipIf(os.geteuid() != 0, "only root can give a file to another user")
    def test_another_users_file_is_a_copy_only_if_that_user_may_write_the_records(self):
        name = f".records.hetsort-{NONCE}.sorted"
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(b"x" * BYTES)
        os.chmod(file.name, 0o600)
        os.chown(file.name, 4242, -1)
        os.chmod(self.path, 0o644)
        self.expect_sorted_beside(name)
        os.chmod(self.path, 0o666)
        with self.assertRaisesRegex(hetsort.FileError, name):
            hetsort.sort(self.map(), memory=SMALL)


if __name__ == "__main__":
    unittest.main()
