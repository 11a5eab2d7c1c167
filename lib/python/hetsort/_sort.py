# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Sorting files and arrays."""
from __future__ import annotations

import contextlib
import operator
import os
from typing import TYPE_CHECKING, Any, Iterable, Optional, Sequence, Union

from ._layout import Order, keys_of
from ._library import Error, Options, OutOfMemory, Progress, Ranks
from ._memory_map import MappedFile, locked

if TYPE_CHECKING:
    import numpy

Path = Union[str, bytes, "os.PathLike[Any]"]
Size = Union[None, int, str]

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
    beside it and copied back once they are proven. The records of a memory map are locked in its file meanwhile.

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
    dimensions, and for an order that does not fit; FileError for a memory map that is being sorted elsewhere, or that a
    killed sort left partly overwritten; Error. With `comm` all ranks throw, and the arrays are as before.
    """
    import numpy  # pylint: disable=import-outside-toplevel

    call = Options(progress)
    ranks = Ranks(comm)
    result = numpy.empty(0, numpy.uint8)
    source = result
    mapped: Optional[MappedFile] = None
    locks = contextlib.ExitStack()

    def set_options() -> None:
        nonlocal result, source, mapped
        _check_array(numpy, array)
        _set_layout(call, array.dtype, order)
        _set_resources(call, memory, threads)
        if share is not None and share < 0:
            raise ValueError(f"share is {share}, below 0")
        in_place = share is None or share == len(array)
        if in_place and not array.flags.writeable:
            raise ValueError("the array is read-only")
        mapped = locks.enter_context(locked(array, in_place))
        source = numpy.ascontiguousarray(array)
        result = source if in_place else numpy.empty(share, array.dtype)

    lib = call._lib  # pylint: disable=protected-access
    with locks:
        try:
            _run(call, ranks, set_options,
                 lambda: lib.hetsort_sort_memory(call.handle, ranks.handle, source.ctypes.data, source.nbytes,
                                                 result.ctypes.data, result.nbytes))
        except OutOfMemory:
            if comm is not None or mapped is None or not mapped.is_whole(_MAX_HEADER_BYTES):
                raise
            folder = os.path.dirname(mapped.path)
            options = {"memory": memory, "threads": threads, "temp": folder if temp is None else temp}
            begin = mapped.begin
            mapped.sort(lambda file, copy: sort_file(file, copy, dtype=array.dtype, order=order, header=begin or None,
                                                     progress=progress, owner_only=True, **options))
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
