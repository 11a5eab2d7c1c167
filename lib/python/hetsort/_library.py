# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""The library for C through ctypes: options, errors, and calls that Ctrl-C ends."""
from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import threading
from pathlib import Path
from typing import Any, Callable, Iterable, Optional

#: Version of the C header that these declarations follow: 10000 major + 100 minor + patch.
HEADER_VERSION = 100

Progress = Callable[[str, int, int], None]
_PROGRESS = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64)


class Error(Exception):
    """A call failed; with ranks of MPI, on all of them alike.

    Attributes:
        rank: the rank that failed first; -1 if all did, or no particular one.
        operation, path: what was done to which file; empty if no file was concerned.
        reason: why.
    """

    def __init__(self, message: str, rank: int = -1, operation: str = "", path: str = "", reason: str = "") -> None:
        super().__init__(message)
        self.rank = rank
        self.operation = operation
        self.path = path
        self.reason = reason or message


class RequestError(Error, ValueError):
    """The request is impossible: options, arrays or ranks do not fit together."""


class FileError(Error):
    """An operation on a file failed."""


class OutOfMemory(Error, MemoryError):
    """Memory, or what the call may use of it, does not suffice."""


class ProofError(Error):
    """The result is not the sorted input: a fault of memory, disk or program."""


class Cancelled(Error):
    """Another rank ended the call."""


_KINDS = [Error, RequestError, FileError, OutOfMemory, ProofError, Cancelled]


class _ErrorParts(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("rank", ctypes.c_int), ("message", ctypes.c_char_p),
                ("operation", ctypes.c_char_p), ("path", ctypes.c_char_p), ("reason", ctypes.c_char_p)]


def _path() -> str:
    """The library: $HETSORT_LIBRARY, or in this package (of a wheel), or beside its folder, or where the system looks."""
    given = os.environ.get("HETSORT_LIBRARY")
    if given:
        return given
    name = "libhetsort.so.0"
    inside = Path(__file__).resolve().parent / name
    if inside.exists():
        return str(inside)
    for folder in list(Path(__file__).resolve().parents)[2:5]:
        for place in [folder / name, *folder.glob("*-linux-gnu/" + name)]:
            if place.exists():
                return str(place)
    return name


@functools.lru_cache(maxsize=None)
def library() -> Any:
    """The loaded library. Throws: OSError if there is none."""
    lib = ctypes.CDLL(_path())
    pointer, text, size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64
    for name, result, arguments in [
            ("last_error", ctypes.POINTER(_ErrorParts), []),
            ("version", ctypes.c_int, []),
            ("options_new", pointer, [ctypes.c_int]),
            ("options_free", None, [pointer]),
            ("options_set", ctypes.c_int, [pointer, text, text]),
            ("on_progress", ctypes.c_int, [pointer, _PROGRESS, pointer]),
            ("cancel", None, [pointer]),
            ("ranks_new", pointer, [pointer, ctypes.c_size_t, text]),
            ("ranks_free", None, [pointer]),
            ("sort_files", ctypes.c_int, [pointer, pointer]),
            ("report", text, [pointer]),
            ("sort_memory", ctypes.c_int, [pointer, pointer, pointer, size, pointer, size]),
            ("argsort_memory", ctypes.c_int, [pointer, pointer, size, pointer, size]),
            ("plan", text, [pointer, ctypes.POINTER(size), ctypes.c_size_t])]:
        function = getattr(lib, "hetsort_" + name)
        function.restype, function.argtypes = result, arguments
    return lib


def last_error() -> Error:
    """The error of this thread's last call."""
    parts = library().hetsort_last_error().contents
    texts = [text.decode(errors="replace") for text in (parts.message, parts.operation, parts.path, parts.reason)]
    return _KINDS[parts.kind](texts[0], parts.rank, *texts[1:])


class Options:
    """The options of one call."""

    def __init__(self, progress: Optional[Progress] = None) -> None:
        self._lib = library()
        self.handle = self._lib.hetsort_options_new(HEADER_VERSION)
        if not self.handle:
            raise last_error()
        self._failure: Optional[BaseException] = None
        self._callback = _PROGRESS()
        if progress is not None:
            self._callback = _PROGRESS(functools.partial(self._report, progress))
            self._lib.hetsort_on_progress(self.handle, self._callback, None)

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            self._lib.hetsort_options_free(self.handle)

    def set(self, name: str, value: object = None) -> None:
        """Sets an option of the program by its long name; None and False leave it out, True stands for no value."""
        if value is None or value is False:
            return
        text = None if value is True else os.fsencode(value if isinstance(value, os.PathLike) else str(value))
        if text is not None and b"\0" in text:
            raise RequestError(f"{name}: {value!r} contains a zero byte")
        if self._lib.hetsort_options_set(self.handle, name.encode(), text) != 0:
            raise last_error()

    def set_all(self, name: str, values: Iterable[object]) -> None:
        for value in values:
            self.set(name, value)

    def set_more(self, options: dict[str, object]) -> None:
        """Sets options by the names of Python: verify_output=True is --verify-output."""
        for name, value in options.items():
            if isinstance(value, (list, tuple)):
                self.set_all(name.replace("_", "-"), value)
            else:
                self.set(name.replace("_", "-"), value)

    def run(self, call: Callable[[], int], in_thread: bool = True) -> None:
        """Runs a call of the library, which releases the interpreter's lock. Ctrl-C ends it and raises KeyboardInterrupt.

        `in_thread`: false if only this thread may work; then Ctrl-C is noticed at the end.
        Throws: Error; what the progress function throws.
        """
        errors: list[Error] = []

        def work() -> None:
            if call() != 0:
                errors.append(last_error())

        if in_thread and threading.current_thread() is threading.main_thread():
            self._run_in_thread(work)
        else:
            work()
        if self._failure is not None:
            raise self._failure
        if errors:
            raise errors[0]

    def _run_in_thread(self, work: Callable[[], None]) -> None:
        """Runs `work` in a thread, which has always ended, or will do nothing, when this returns or raises."""
        begin, ended = threading.Lock(), threading.Event()
        may_begin, begun = True, False

        def run() -> None:
            nonlocal begun
            with begin:
                begun = may_begin
            try:
                if begun:
                    work()
            finally:
                ended.set()

        try:
            threading.Thread(target=run).start()
            ended.wait()
        except BaseException:
            with begin:
                may_begin = False
            while begun and not ended.is_set():
                with contextlib.suppress(KeyboardInterrupt):  # once is enough
                    self._lib.hetsort_cancel(self.handle)
                    ended.wait()
            raise

    def _report(self, progress: Progress, _context: object, phase: bytes, done: int, total: int) -> None:
        try:
            progress(phase.decode(), done, total)
        except BaseException as failure:  # pylint: disable=broad-except
            self._failure = failure
            self._lib.hetsort_cancel(self.handle)


class Ranks:
    """The ranks of an mpi4py communicator, or this process alone."""

    def __init__(self, comm: Any = None) -> None:
        self.handle = None
        self.any_thread = True
        self._comm = comm
        if comm is None:
            return
        from mpi4py import MPI  # pylint: disable=import-outside-toplevel

        if not isinstance(comm, MPI.Comm):
            raise TypeError(f"comm is a {type(comm).__name__}, not a communicator of mpi4py")
        # If MPI does not run, no other question may be asked; the library refuses the call then.
        self.any_thread = (MPI.Is_initialized() and not MPI.Is_finalized()
                           and MPI.Query_thread() >= MPI.THREAD_SERIALIZED)
        self._lib = library()
        # pylint: disable=protected-access
        self.handle = self._lib.hetsort_ranks_new(MPI._addressof(comm), MPI._sizeof(comm), MPI.get_vendor()[0].encode())
        if not self.handle:
            raise last_error()

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            self._lib.hetsort_ranks_free(self.handle)
