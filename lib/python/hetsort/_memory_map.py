# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""The files of memory maps: locked while records in them are sorted, and overwritten so that a kill loses no record.

A map that memory has no room to sort is sorted into a copy, ".NAME.hetsort-NONCE.sorted" beside the file. The copy has
no name until it is complete, proven and synced; then the file is overwritten from it, synced, and the copy removed. So
a copy that exists beside a file that is not locked belongs to a sort that was killed while it overwrote the file, and
only the copy has all records. Its contents are never trusted: the next sort names it and ends.
"""
from __future__ import annotations

import contextlib
import errno
import fcntl
import mmap
import os
import re
import secrets
import signal
import stat
import struct
import threading
from typing import TYPE_CHECKING, Any, Callable, Iterator, Optional

from ._library import FileError

if TYPE_CHECKING:
    import numpy

#: Bytes that are copied at once into a file.
_PIECE_BYTES = 16 << 20
#: The names of copies and of their parts begin with so many bytes of the file's name, so that 255 bytes suffice.
_MAX_NAME_BYTES = 140
#: struct flock: type, whence, start, length, process.
_FLOCK = "hhqqi"


@contextlib.contextmanager
def locked(array: "numpy.ndarray[Any, Any]", writes: bool) -> Iterator[Optional["MappedFile"]]:
    """Locks the records of an array that is a memory map, or a view of one, in their file. Other sorts of them are
    refused until the context ends, also those of other threads and processes.

    Yields the file; None for other arrays, and for a map whose file has lost its name to another.

    Throws: FileError if another sort works on some of the records, or has left the file partly overwritten.
    """
    file = _file_of(array, writes)
    if file is None:
        yield None
        return
    try:
        file.lock(file.begin, file.end - file.begin)
        file.refuse_interrupted_sort()
        yield file
    finally:
        file.close()


def _file_of(array: "numpy.ndarray[Any, Any]", writes: bool) -> Optional["MappedFile"]:
    whole = _map_of(array)
    if whole is None or whole.filename is None or array.nbytes == 0:
        return None
    writes = writes and whole.mode in ("r+", "w+")
    try:
        descriptor = os.open(whole.filename, (os.O_RDWR if writes else os.O_RDONLY) | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError:
        return None
    if os.fstat(descriptor).st_ino != _mapped_inode(whole.ctypes.data):
        os.close(descriptor)
        return None
    return MappedFile(descriptor, whole, array, writes)


def _map_of(array: Any) -> Any:
    """The memory map that an array is, or is a view of."""
    import numpy  # pylint: disable=import-outside-toplevel

    while array is not None and not (isinstance(array, numpy.memmap) and isinstance(array.base, mmap.mmap)):
        array = getattr(array, "base", None)
    return array


def _mapped_inode(address: int) -> Optional[int]:
    """The inode of the file that is mapped at an address."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        for line in maps:
            region, _, _, _, inode = line.split()[:5]
            first, end = (int(part, 16) for part in region.split("-"))
            if first <= address < end:
                return int(inode)
    return None


class MappedFile:
    """The open file of a memory map, and where the records of an array lie in it."""

    def __init__(self, descriptor: int, whole: Any, array: Any, writes: bool) -> None:
        self._descriptor = descriptor
        self._map = whole
        self._writes = writes
        self._has_locks = True
        self.path = os.path.realpath(whole.filename)
        last = (len(array) - 1) * array.strides[0]
        self.begin = array.ctypes.data + min(0, last) - whole.ctypes.data + whole.offset
        self.end = self.begin + abs(last) + array.itemsize
        self.is_contiguous = bool(array.flags.c_contiguous)

    def close(self) -> None:
        """Unlocks first: a process that was forked meanwhile has a copy of the descriptor, which keeps locks."""
        with contextlib.suppress(OSError):
            fcntl.fcntl(self._descriptor, fcntl.F_OFD_SETLK, struct.pack(_FLOCK, fcntl.F_UNLCK, os.SEEK_SET, 0, 0, 0))
        os.close(self._descriptor)

    def lock(self, begin: int, length: int) -> None:
        """Locks bytes of the file, to its end if `length` is 0. Throws: FileError if some of them are locked."""
        kind = fcntl.F_WRLCK if self._writes else fcntl.F_RDLCK
        try:
            fcntl.fcntl(self._descriptor, fcntl.F_OFD_SETLK, struct.pack(_FLOCK, kind, os.SEEK_SET, begin, length, 0))
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EACCES):
                raise self._error("lock", "another sort works on records of this file, or a program locks it") from None
            self._has_locks = False

    def refuse_interrupted_sort(self) -> None:
        """Throws: FileError if an earlier sort was ended while it overwrote the file. Removes what other sorts that were
        ended have left."""
        copy = self._name_of_copy("[0-9a-f]{32}", re.escape)
        part = re.compile(re.escape(b".") + copy + re.escape(b".hetsort-") + b"[0-9a-f]{32}" + re.escape(b".part"))
        size = os.fstat(self._descriptor).st_size
        folder = os.path.dirname(os.fsencode(self.path))
        names: list[bytes] = []
        with contextlib.suppress(PermissionError):
            names = os.listdir(folder)
        for name in names:
            path = os.path.join(folder, name)
            if part.fullmatch(name):
                _remove_stale(path)
            elif re.fullmatch(copy, name) and self._is_copy(path, size):
                raise self._error("sort", "an earlier sort was ended before it had copied all sorted records back. They "
                                          f"are in {os.fsdecode(path)}: copy it over this file and remove it. If this "
                                          "file has all its records, only remove the copy")

    def is_whole(self, max_header_bytes: int) -> bool:
        """Whether the array is writable and has all records of the file, from an offset to the end."""
        return (self._writes and self.is_contiguous and self.begin <= max_header_bytes
                and self.end == os.fstat(self._descriptor).st_size)

    def sort(self, sort_into: Callable[[str, str], object]) -> None:
        """Calls `sort_into(input, output)` to sort the file into a copy that is synced, and overwrites the file with it.

        Ctrl-C is noticed before or behind that, not while the file is overwritten.
        Throws: FileError; what `sort_into` throws. If the file is partly overwritten, a note names the copy.
        """
        self.lock(0, 0)
        if not self._has_locks:
            raise self._error("lock", "this file system has no locks, so a memory map of it is sorted only in memory; "
                                      "give more memory, or sort the file with sort_file()")
        self._map.flush()
        copy = os.path.join(os.path.dirname(self.path), os.fsdecode(self._name_of_copy(secrets.token_hex(16), bytes)))
        note = ""

        def overwrite() -> None:
            nonlocal note
            source = os.open(copy, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                size = os.fstat(self._descriptor).st_size
                if not self._is_copy(source, size):
                    raise self._error("copy", f"{copy} was replaced")
                note = f"The array is partly overwritten; all its records are in {copy}, sorted."
                _copy(source, self._descriptor, self.begin, size)
                os.fsync(self._descriptor)
                note = f"The array is sorted; {copy} is only a copy of it."
            finally:
                os.close(source)
            os.unlink(copy)

        try:
            # The file that is locked, even if another one gets its name.
            sort_into(f"/proc/self/fd/{self._descriptor}", copy)
            _without_interrupts(overwrite)
        except BaseException as error:
            if not note:
                with contextlib.suppress(FileNotFoundError):  # Ctrl-C may come when it is complete
                    os.unlink(copy)
            elif os.path.lexists(copy):
                error.add_note(note)
            if isinstance(error, OSError):
                raise self._error("overwrite", error.strerror or str(error)) from error
            raise

    def _name_of_copy(self, nonce: str, form: Callable[[bytes], bytes]) -> bytes:
        name = os.path.basename(os.fsencode(self.path))[:_MAX_NAME_BYTES]
        return form(b"." + name + b".hetsort-") + nonce.encode() + form(b".sorted")

    def _is_copy(self, place: Any, size: int) -> bool:
        """Whether what has a copy's name (a path, or open) may be one of this file: of its size, for its owner alone
        unless the file system gives all files one mode, and of a user that may write this file."""
        file = os.fstat(self._descriptor)
        try:
            status = os.fstat(place) if isinstance(place, int) else os.lstat(place)
        except OSError:
            return False
        owners = (os.geteuid(), file.st_uid)
        return (stat.S_ISREG(status.st_mode) and stat.S_IMODE(status.st_mode) in (0o600, stat.S_IMODE(file.st_mode))
                and status.st_nlink <= 1 and status.st_size == size
                and (status.st_uid in owners or file.st_mode & (stat.S_IWGRP | stat.S_IWOTH) != 0))

    def _error(self, operation: str, reason: str) -> FileError:
        return FileError(f"{operation} {self.path}: {reason}", -1, operation, self.path, reason)


def _copy(source: int, target: int, begin: int, end: int) -> None:
    """Copies bytes to the same place of another file."""
    piece = memoryview(bytearray(min(_PIECE_BYTES, end - begin)))
    while begin < end:
        count = os.preadv(source, [piece[:end - begin]], begin)
        if count == 0:
            raise OSError(errno.EIO, "the copy ends too early")
        written = 0
        while written < count:
            written += os.pwrite(target, piece[written:count], begin + written)
        begin += count


def _remove_stale(path: bytes) -> None:
    """Removes the part of a copy if no process has it open any more; on file systems where parts have names."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        opened = os.fstat(descriptor)
        # Its owner may have published it before we locked it, and another taken the name.
        if stat.S_ISREG(opened.st_mode) and os.path.samestat(opened, os.lstat(path)):
            os.unlink(path)
    os.close(descriptor)


def _without_interrupts(work: Callable[[], None]) -> None:
    """Runs `work` to its end even if Ctrl-C comes, which then has its effect afterwards."""
    if threading.current_thread() is not threading.main_thread() or not callable(signal.getsignal(signal.SIGINT)):
        work()
        return
    came: list[Any] = []
    handler = signal.signal(signal.SIGINT, lambda *call: came.append(call))
    try:
        work()
    finally:
        signal.signal(signal.SIGINT, handler)
        if came:
            handler(*came[0])  # type: ignore[operator, misc]
