# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Sorting files and arrays."""
from __future__ import annotations

import contextlib
import mmap
import operator
import os
from typing import TYPE_CHECKING, Any, Iterable, Optional, Sequence, Union

from ._layout import Order, keys_of
from ._library import Error, FileError, Options, OutOfMemory, Progress, Ranks

if TYPE_CHECKING:
    import numpy

Path = Union[str, bytes, "os.PathLike[Any]"]
Size = Union[None, int, str]

#: Bytes that are copied back at once into a memory map.
_PIECE_BYTES = 16 << 20
#: What the program's option --header allows.
_MAX_HEADER_BYTES = 16 << 20


def _size(memory: Size) -> Optional[str]:
    """A size as the program takes it; a number counts bytes."""
    return memory if memory is None or isinstance(memory, str) else f"{operator.index(memory)}b"


def _paths(paths: Union[Path, Sequence[Path]]) -> list[str]:
    """One path or several. Throws: TypeError for what is no path."""
    return [os.fsdecode(path) for path in ([paths] if isinstance(paths, (str, bytes, os.PathLike)) else paths)]


def sort_file(inputs: Union[Path, Sequence[Path]], output: Union[Path, Sequence[Path]], *, dtype: Any = None,
              order: Order = None, record_size: Optional[int] = None, key: Union[None, str, Sequence[str]] = None,
              memory: Size = None, threads: Optional[int] = None, temp: Union[None, Path, Sequence[Path]] = None,
              speeds: Optional[Iterable[float]] = None, comm: Any = None, progress: Optional[Progress] = None,
              **options: object) -> dict[str, Any]:
    """Sorts the records of files into one file or several, as ``hetsort sort`` does. Inputs may be larger than memory.

    Args:
        inputs: one path or several. ``{rank}`` in a path is the number of the rank.
        output: appears when it is complete and proven; may be one of the inputs. Of several paths each file gets an
            equal part of the records, in this order.
        dtype: NumPy type of a record; `order` then names the fields that decide, as in sort().
        record_size, key: without `dtype`, the bytes of a record and its keys, such as ``"8:f64:desc"``.
        memory: bytes that the call may use, or text such as ``"4G"``.
        threads: as many as processors by default.
        temp: folders for what does not fit in memory.
        speeds: relative speeds of the ranks.
        comm: communicator of mpi4py; all its ranks make this call together.
        progress: called as ``progress(phase, done_bytes, total_bytes)`` a few times a second.
        options: further options of the program: ``unique=True``, ``header=128``, ``verify_output=True``.

    Returns: the report of the run (docs/formats/report.md); empty on ranks other than 0.

    Throws: Error; TypeError or ValueError for a dtype or an order that does not fit.
    """
    call = Options(progress)
    ranks = Ranks(comm)

    def set_options() -> None:
        call.set_all("input", _paths(inputs))
        outputs = _paths(output)
        if not outputs:
            raise ValueError("no output is named")
        call.set_all("output", outputs)
        if dtype is not None:
            if record_size is not None or key is not None:
                raise ValueError("dtype excludes record_size and key")
            _set_layout(call, _as_dtype(dtype), order)
        elif order is not None:
            raise ValueError("order needs a dtype; key says the order without one")
        call.set("record-size", record_size)
        call.set_all("key", [key] if key is None or isinstance(key, str) else key)
        _set_resources(call, memory, threads)
        call.set_all("temp", [] if temp is None else _paths(temp))
        call.set("speeds", None if speeds is None else ",".join(repr(float(speed)) for speed in speeds))
        call.set_more(options)

    import json  # pylint: disable=import-outside-toplevel

    lib = call._lib  # pylint: disable=protected-access
    _run(call, ranks, set_options, lambda: lib.hetsort_sort_files(call.handle, ranks.handle))
    report = lib.hetsort_report(call.handle)
    return json.loads(report) if report else {}


def sort(array: "numpy.ndarray[Any, Any]", order: Order = None, *, comm: Any = None, share: Optional[int] = None,
         memory: Size = None, threads: Optional[int] = None, temp: Union[None, Path, Sequence[Path]] = None,
         progress: Optional[Progress] = None) -> "numpy.ndarray[Any, Any]":
    """Sorts a one-dimensional array in place and returns it. Equal keys keep their order.

    A memory map of a whole file that memory has no room to sort is sorted as a file: the sorted records are written
    beside it and copied back once they are proven.

    Args:
        array: of numbers, byte strings, or records (structured). NaN comes last, as in NumPy; NaT comes first.
        order: the fields that decide, most significant first: ``["id", ("value", "desc")]``. By default all fields in
            their order. For an array without fields ``"desc"`` reverses the order.
        comm: communicator of mpi4py. The arrays of all ranks are sorted together, in the order of the ranks.
        share: records that this rank ends with; by default as many as it has. If it is another number, the result is a
            new array and `array` stays as it is. The shares of all ranks have as many records as the ranks.
        memory: bytes that the call may use besides the array, or text such as ``"4G"``; by default three quarters of
            what the system would give.
        threads: as many as processors by default.
        temp: folders for what does not fit in memory, for a memory map.
        progress: called as ``progress(phase, done_bytes, total_bytes)`` a few times a second.

    Throws: TypeError for an array of objects; ValueError for one that is read-only or has another number of
    dimensions, and for an order that does not fit; Error. With `comm` all ranks throw, and the arrays are as before.
    """
    import numpy  # pylint: disable=import-outside-toplevel

    call = Options(progress)
    ranks = Ranks(comm)
    result = numpy.empty(0, numpy.uint8)
    source = result

    def set_options() -> None:
        nonlocal result, source
        _check_array(numpy, array)
        _set_layout(call, array.dtype, order)
        _set_resources(call, memory, threads)
        source = numpy.ascontiguousarray(array)
        if share is not None and share < 0:
            raise ValueError(f"share is {share}, below 0")
        in_place = share is None or share == len(array)
        if in_place and not array.flags.writeable:
            raise ValueError("the array is read-only")
        result = source if in_place else numpy.empty(share, array.dtype)

    lib = call._lib  # pylint: disable=protected-access
    try:
        _run(call, ranks, set_options,
             lambda: lib.hetsort_sort_memory(call.handle, ranks.handle, source.ctypes.data, source.nbytes,
                                             result.ctypes.data, result.nbytes))
    except OutOfMemory:
        if comm is not None or not _is_whole_file(numpy, array):
            raise
        _sort_memory_map(array, order, {"memory": memory, "threads": threads, "temp": temp, "progress": progress})
        return array
    if result is not source:
        return result
    if source is not array and not numpy.shares_memory(source, array):
        array[...] = source
    return array


def _run(call: Options, ranks: Ranks, set_options: Any, function: Any) -> None:
    """Sets the options and makes the call. With ranks of MPI, a mistake of this rank becomes the error of all."""
    mistake: Optional[Exception] = None
    try:
        set_options()
    except Exception as error:  # pylint: disable=broad-except
        if ranks.handle is None:
            raise
        mistake = error
        call.set("mistake", str(error).replace("\0", " ") or type(error).__name__)
    try:
        call.run(function, ranks.any_thread)
    except Error as error:
        raise error from mistake


def _as_dtype(dtype: Any) -> "numpy.dtype[Any]":
    import numpy  # pylint: disable=import-outside-toplevel

    return numpy.dtype(dtype)


def _set_layout(call: Options, dtype: "numpy.dtype[Any]", order: Order) -> None:
    keys = keys_of(dtype, order)
    call.set("record-size", dtype.itemsize)
    call.set_all("key", keys)


def _set_resources(call: Options, memory: Size, threads: Optional[int]) -> None:
    call.set("memory", _size(memory))
    call.set("threads", threads)


def _check_array(numpy: Any, array: Any) -> None:
    if not isinstance(array, numpy.ndarray):
        raise TypeError(f"array is a {type(array).__name__}, not an array of NumPy")
    if array.ndim != 1:
        raise ValueError(f"the array has {array.ndim} dimensions; one can be sorted")
    if isinstance(array, numpy.ma.MaskedArray):
        raise TypeError("masked arrays cannot be sorted as bytes")


def _is_whole_file(numpy: Any, array: Any) -> bool:
    """Whether the array is a memory map of all records of a file, from its offset to the end, and not of a file that has
    lost its name to another."""
    if not (isinstance(array, numpy.memmap) and isinstance(array.base, mmap.mmap) and array.filename is not None
            and array.mode in ("r+", "w+") and array.offset <= _MAX_HEADER_BYTES):
        return False
    try:
        status = os.stat(array.filename)
    except OSError:
        return False
    return status.st_size == array.offset + array.nbytes and status.st_ino == _mapped_inode(array.ctypes.data)


def _mapped_inode(address: int) -> Optional[int]:
    """The inode of the file that is mapped at an address."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        for line in maps:
            region, _, _, _, inode = line.split()[:5]
            first, end = (int(part, 16) for part in region.split("-"))
            if first <= address < end:
                return int(inode)
    return None


def _sort_memory_map(array: Any, order: Order, options: dict[str, Any]) -> None:
    """Sorts the file behind a memory map into another beside it, and copies the records back. That file stays if copying
    fails, so that no record is lost."""
    array.flush()
    folder, name = os.path.split(os.path.abspath(array.filename))
    beside = os.path.join(folder, f".{name}.hetsort-sorted-{os.getpid()}")
    if options["temp"] is None:
        options["temp"] = folder
    try:
        sort_file(array.filename, beside, dtype=array.dtype, order=order, header=array.offset or None,
                  **{"no_sync": True, **options})
    except BaseException:
        with contextlib.suppress(FileNotFoundError):  # Ctrl-C may come when it is complete
            os.unlink(beside)
        raise
    try:
        _copy_back(array, beside)
    except BaseException as error:
        error.add_note(f"The array is partly overwritten; all its records are in {beside}, sorted.")
        raise
    os.unlink(beside)


def _copy_back(array: Any, beside: str) -> None:
    """Copies the records from the file into the map, a piece at a time."""
    into = array.view("u1")
    with open(beside, "rb", buffering=0) as file:
        file.seek(array.offset)
        for at in range(0, array.nbytes, _PIECE_BYTES):
            piece = memoryview(into[at:at + _PIECE_BYTES])
            while len(piece) > 0:
                count = file.readinto(piece)
                if not count:
                    raise FileError(f"copy {beside}: it ends too early")
                piece = piece[count:]
    array.flush()
