# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Sorting files and arrays."""
from __future__ import annotations

import contextlib
import functools
import operator
import os
from typing import TYPE_CHECKING, Any, Callable, Iterable, Optional, Sequence, Tuple, Union

from ._layout import MAX_KEY_BYTES, Order, keys_of, passes_of
from ._library import Error, Options, OutOfMemory, Progress, Ranks
from ._memory_map import MappedFile, locked

if TYPE_CHECKING:
    import numpy

Path = Union[str, bytes, "os.PathLike[Any]"]
Size = Union[None, int, str]

#: Bytes of rows that argsort() reads or writes at once, if they are in files.
_PIECE_BYTES = 4 << 20
#: What the program's option --header allows.
_MAX_HEADER_BYTES = 16 << 20


def _size(memory: Size) -> Optional[str]:
    """A size as the program takes it; a number counts bytes."""
    return memory if memory is None or isinstance(memory, str) else f"{operator.index(memory)}b"


def _paths(paths: Union[Path, Sequence[Path]]) -> list[str]:
    """One path or several. Throws: TypeError for what is no path."""
    return [os.fsdecode(path) for path in ([paths] if isinstance(paths, (str, bytes, os.PathLike)) else paths)]


def sort_file(inputs: Union[Path, Sequence[Path]], output: Union[Path, Sequence[Path]], *, dtype: Any = None,
              order: Order = None, descending: bool = False, record_size: Optional[int] = None,
              key: Union[None, str, Sequence[str]] = None,
              memory: Size = None, threads: Optional[int] = None, temp: Union[None, Path, Sequence[Path]] = None,
              speeds: Optional[Iterable[float]] = None, comm: Any = None, progress: Optional[Progress] = None,
              **options: object) -> dict[str, Any]:
    """Sorts the records of files into one file or several, as ``hetsort sort`` does. Inputs may be larger than memory.

    Args:
        inputs: one path or several. ``{rank}`` in a path is the number of the rank.
        output: appears when it is complete and proven; may be one of the inputs. Of several paths each file gets an
            equal part of the records, in this order.
        dtype: NumPy type of a record; `order` then names the fields that decide, as in sort(). NumPy files (.npy) say
            it themselves; `output` then is one, too.
        descending: reverse the order of all keys.
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
            if key is not None:
                raise ValueError("order excludes key")
            call.set_all("key", keys_of(_dtype_in(_paths(inputs)), order))
        call.set("reverse", descending)
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


def sort(array: "numpy.ndarray[Any, Any]", order: Order = None, *, descending: bool = False,
         payload: Sequence["numpy.ndarray[Any, Any]"] = (), comm: Any = None, share: Optional[int] = None,
         memory: Size = None, threads: Optional[int] = None, temp: Union[None, Path, Sequence[Path]] = None,
         progress: Optional[Progress] = None) -> "numpy.ndarray[Any, Any]":
    """Sorts a one-dimensional array in place and returns it. Equal keys keep their order.

    A memory map of a whole file that memory has no room to sort is sorted as a file: the sorted records are written
    beside it and copied back once they are proven. The records of a memory map are locked in its file meanwhile.

    Args:
        array: of numbers, byte strings, or records (structured). NaN comes last, as in NumPy; NaT comes first.
        order: the fields that decide, most significant first: ``["id", ("value", "desc")]``. By default all fields in
            their order. For an array without fields ``"desc"`` reverses the order.
        descending: reverse the order of all fields. Equal records keep their order.
        payload: arrays as long as `array`, whose elements or rows are put in the same order, in place. It needs memory
            for a copy of all arrays.
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

    if len(payload) > 0 or _takes_passes(array, order):
        _sort_with_payload(array, payload, order, descending=descending, comm=comm, share=share, memory=memory,
                           threads=threads, progress=progress)
        return array
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
        call.set("reverse", descending)
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
            mapped.sort(lambda file, copy: sort_file(file, copy, dtype=array.dtype, order=order, descending=descending,
                                                     header=begin or None, progress=progress, owner_only=True,
                                                     **options))
            return array
        if result is not source:
            return result
        if source is not array and not numpy.shares_memory(source, array):
            array[...] = source
    return array


def argsort(array: "numpy.ndarray[Any, Any]", order: Order = None, *, descending: bool = False,
            out: Optional["numpy.ndarray[Any, Any]"] = None, memory: Size = None, threads: Optional[int] = None,
            temp: Union[None, Path, Sequence[Path]] = None,
            progress: Optional[Progress] = None) -> "numpy.ndarray[Any, Any]":
    """Returns the places of the elements in sorted order, so that ``array[argsort(array)]`` is sorted. Equal elements
    keep their order.

    Args:
        array, order, descending, memory, threads, progress: as in sort(). The array stays as it is.
        out: an array of integers of 64 bits, such as a memory map, that receives the places and is returned.
        temp: folders. With them, what `memory` has no room for is sorted in files there, besides 8 bytes an element in
            `out`; the first folder also has two copies of the keys.

    Throws: as sort(); ValueError for an `out` of another type or length.
    """
    import numpy  # pylint: disable=import-outside-toplevel

    _check_array(numpy, array)
    passes = passes_of(array.dtype, order)
    if out is None:
        out = numpy.empty(len(array), numpy.intp)
    elif out.shape != array.shape or out.dtype.kind not in "iu" or out.dtype.itemsize != 8:
        raise ValueError(f"out is an array of {out.dtype} with shape {out.shape}; it must be one of integers of 64 bits "
                         f"with shape {array.shape}")
    if not out.flags.writeable:
        raise ValueError("out is read-only")
    options = {"descending": descending, "memory": memory, "threads": threads, "progress": progress}
    try:
        source = numpy.ascontiguousarray(array)
        direct = out.flags.c_contiguous and out.dtype.isnative and not numpy.may_share_memory(source, out)
        if len(passes) == 1:
            places = out if direct else numpy.empty(len(array), numpy.uint64)
            _find_places(source, passes[0], places, **options)
        else:
            rows = _sort_rows(lambda: (_rows(numpy, array, _row_type(numpy, array), 0, len(array)), passes), **options)
            places = rows["place"]
        if places is not out:
            out[...] = places
    except MemoryError:
        if temp is None:
            raise
        _argsort_in_files(array, order, out, _paths(temp), options)
    return out


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


def _dtype_in(paths: list[str]) -> "numpy.dtype[Any]":
    """The type of the elements of the first input. Throws: ValueError if it is no NumPy file."""
    import numpy  # pylint: disable=import-outside-toplevel

    front = b""
    with contextlib.suppress(OSError), open(paths[0], "rb") as file:
        front = file.read(6)
    if front != b"\x93NUMPY":
        raise ValueError("order needs a dtype, unless the inputs are NumPy files; key says the order without one")
    return numpy.load(paths[0], mmap_mode="r").dtype


def _takes_passes(array: Any, order: Order) -> bool:
    """Whether the library cannot sort by all keys at once. Mistakes are found later, on all ranks."""
    try:
        return len(passes_of(array.dtype, order)) > 1
    except (AttributeError, TypeError, ValueError):
        return False


def _row_type(numpy: Any, array: Any) -> Any:
    return numpy.dtype([("key", array.dtype), ("place", "<u8")])


def _rows(numpy: Any, array: Any, kind: Any, begin: int, end: int) -> Any:
    """Elements with their places."""
    rows = numpy.empty(end - begin, kind)
    rows["key"] = array[begin:end]
    rows["place"] = numpy.arange(begin, end)
    return rows


def _set_sort(call: Options, record_size: int, keys: list[str], *, descending: bool, memory: Size,
              threads: Optional[int]) -> None:
    call.set("record-size", record_size)
    call.set_all("key", keys)
    call.set("reverse", descending)
    _set_resources(call, memory, threads)


def _sort_rows(make: Callable[[], Tuple[Any, list[list[str]]]], *, comm: Any = None, progress: Optional[Progress],
               **options: Any) -> Any:
    """Sorts the rows that `make` returns with the groups of their keys, in place, and returns them. With ranks of MPI, a
    mistake of this rank becomes the error of all."""
    import numpy  # pylint: disable=import-outside-toplevel

    ranks = Ranks(comm)
    rows, passes = numpy.empty(0, "u1"), [["0:1"]]
    mistake: Optional[Exception] = None
    try:
        rows, passes = make()
    except Exception as error:  # pylint: disable=broad-except
        if ranks.handle is None:
            raise
        mistake = error

    def set_options(call: Options, keys: list[str]) -> None:
        if mistake is not None:
            raise mistake
        _set_sort(call, rows.dtype.itemsize, keys, **options)

    for keys in reversed(passes):
        call = Options(progress)
        lib = call._lib  # pylint: disable=protected-access
        _run(call, ranks, functools.partial(set_options, call, keys),
             functools.partial(lib.hetsort_sort_memory, call.handle, ranks.handle, rows.ctypes.data, rows.nbytes,
                               rows.ctypes.data, rows.nbytes))
    return rows


def _find_places(source: Any, keys: list[str], places: Any, *, progress: Optional[Progress], **options: Any) -> None:
    """Stores the places of the elements in sorted order."""
    call = Options(progress)
    lib = call._lib  # pylint: disable=protected-access
    _run(call, Ranks(None), lambda: _set_sort(call, source.dtype.itemsize, keys, **options),
         lambda: lib.hetsort_argsort_memory(call.handle, source.ctypes.data, source.nbytes, places.ctypes.data,
                                            len(places)))


def _argsort_in_files(array: Any, order: Order, out: Any, folders: list[str], options: Any) -> None:
    import tempfile  # pylint: disable=import-outside-toplevel

    import numpy  # pylint: disable=import-outside-toplevel

    kind = _row_type(numpy, array)
    piece = max(1, _PIECE_BYTES // kind.itemsize)
    with tempfile.TemporaryDirectory(prefix="hetsort-argsort-", dir=folders[0]) as folder:
        unsorted, result = os.path.join(folder, "rows"), os.path.join(folder, "sorted")
        with open(unsorted, "wb") as file:
            for begin in range(0, len(array), piece):
                _rows(numpy, array, kind, begin, min(begin + piece, len(array))).tofile(file)
        sort_file(unsorted, result, record_size=kind.itemsize, key=keys_of(array.dtype, order), temp=folders, **options)
        os.unlink(unsorted)
        with open(result, "rb") as file:
            for begin in range(0, len(array), piece):
                rows = numpy.fromfile(file, kind, min(piece, len(array) - begin))
                out[begin:begin + len(rows)] = rows["place"]


def _sort_with_payload(array: Any, payload: Any, order: Order, *, share: Optional[int], **options: Any) -> None:
    import numpy  # pylint: disable=import-outside-toplevel

    names = [str(number) for number in range(len(payload) + 1)]

    def make() -> Tuple[Any, list[list[str]]]:
        _check_array(numpy, array)
        for each in (array, *payload):
            if not isinstance(each, numpy.ndarray) or each.ndim == 0 or len(each) != len(array):
                raise ValueError("payload is a list of arrays that are as long as the array")
            if each.dtype.hasobject:
                raise TypeError(f"{each.dtype} contains Python objects, which cannot be sorted as bytes")
            if not each.flags.writeable:
                raise ValueError(f"{'the array' if each is array else 'an array of the payload'} is read-only")
        if share is not None and share != len(array):
            raise ValueError(f"share is {share}; with a payload or keys of more than {MAX_KEY_BYTES} bytes it is the "
                             f"length of the array, {len(array)}")
        rows = numpy.empty(len(array), [("0", array.dtype)] + [(name, each.dtype, each.shape[1:])
                                                               for name, each in zip(names[1:], payload)])
        for name, each in zip(names, (array, *payload)):
            rows[name] = each
        return rows, passes_of(array.dtype, order)

    rows = _sort_rows(make, **options)
    for name, each in zip(names, (array, *payload)):
        each[...] = rows[name]


def _check_array(numpy: Any, array: Any) -> None:
    if not isinstance(array, numpy.ndarray):
        raise TypeError(f"array is a {type(array).__name__}, not an array of NumPy")
    if array.ndim != 1:
        raise ValueError(f"the array has {array.ndim} dimensions; one can be sorted")
    if isinstance(array, numpy.ma.MaskedArray):
        raise TypeError("masked arrays cannot be sorted as bytes")
