# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""The keys of NumPy types, as the program's option --key takes them."""
from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Iterator, Sequence, Tuple, Union

if TYPE_CHECKING:
    import numpy

#: The fields that decide, most significant first: names, or pairs of a name and "asc" or "desc".
Order = Union[None, str, Sequence[Union[str, Tuple[str, str]]]]

#: What the library takes.
_MAX_KEYS = 1024
MAX_KEY_BYTES = 4096
_MAX_RECORD_BYTES = 1 << 20
_KINDS = {"u": "u", "i": "i", "f": "f", "b": "u", "M": "i", "m": "i"}


def keys_of(dtype: "numpy.dtype[Any]", order: Order = None) -> list[str]:
    """The keys of records of this type.

    Without `order` all fields count, in their order; a type without fields is its own key, and `order` may be "desc".
    Throws: TypeError for objects and for types that have no order here; ValueError for an order that does not fit, and
    for more keys than the library takes.
    """
    # Not all at once: an array in a record may have millions of elements.
    keys = list(itertools.islice(_all_keys(dtype, order), _MAX_KEYS + 1))
    if len(keys) > _MAX_KEYS:
        raise ValueError(f"{'a record' if dtype.names else dtype} has more than {_MAX_KEYS} keys: each number counts, "
                         "each element of an array, each part of a complex number, and each character of a text"
                         + ("; order can name fewer fields" if dtype.names else ""))
    if sum(map(_bytes_of, keys)) > MAX_KEY_BYTES:
        raise ValueError(f"the keys of {dtype if dtype.names is None else 'a record'} have more than {MAX_KEY_BYTES} "
                         "bytes together" + ("; order can name fewer fields" if dtype.names else ""))
    return keys


def passes_of(dtype: "numpy.dtype[Any]", order: Order = None) -> list[list[str]]:
    """The keys of records of this type in groups that the library takes: a stable sort by each group, the last one first,
    is the sort by all keys.

    Throws: as keys_of(), but for any number of keys; ValueError for a type that is larger than a record may be.
    """
    if dtype.itemsize > _MAX_RECORD_BYTES:
        raise ValueError(f"{'a record' if dtype.names else dtype} has more than {_MAX_RECORD_BYTES} bytes")
    groups: list[list[str]] = [[]]
    used = 0
    for key in _all_keys(dtype, order):
        used += _bytes_of(key)
        if len(groups[-1]) == _MAX_KEYS or used > MAX_KEY_BYTES:
            groups.append([])
            used = _bytes_of(key)
        groups[-1].append(key)
    return groups


def _all_keys(dtype: "numpy.dtype[Any]", order: Order) -> Iterator[str]:
    if dtype.hasobject:
        raise TypeError(f"{dtype} contains Python objects, which cannot be sorted as bytes")
    for name, descending in _fields(dtype, order):
        field, offset = (dtype, 0) if name is None else dtype.fields[name][:2]
        for key in _expand(field, offset):
            yield key + (":desc" if descending else "")


def _bytes_of(key: str) -> int:
    kind = key.split(":")[1]
    return int(kind) if kind.isdigit() else int(kind[1:].removesuffix("be")) // 8


def _fields(dtype: "numpy.dtype[Any]", order: Order) -> list[tuple[Any, bool]]:
    """The fields that decide, and whether each descends; a type without fields is a single one without name."""
    if dtype.names is None:
        if order not in (None, "asc", "desc"):
            raise ValueError(f"order {order!r}: {dtype} has no fields; order is 'asc' or 'desc'")
        return [(None, order == "desc")]
    if order is None:
        order = dtype.names
    elif isinstance(order, str):
        order = [order]
    wrong = ValueError(f"order {order!r}: it is a list of names and of pairs (name, 'asc' or 'desc')")
    if not isinstance(order, (list, tuple)):
        raise wrong
    fields = []
    for each in order:
        if not isinstance(each, str) and not (isinstance(each, (list, tuple)) and len(each) == 2):
            raise wrong
        name, direction = (each, "asc") if isinstance(each, str) else each
        if name not in dtype.names:
            raise ValueError(f"order names the field {name!r}; the fields are {', '.join(dtype.names)}")
        if direction not in ("asc", "desc"):
            raise ValueError(f"order of {name!r} is {direction!r}; it is 'asc' or 'desc'")
        fields.append((name, direction == "desc"))
    if not fields:
        raise ValueError("order names no field")
    return fields


def _expand(dtype: "numpy.dtype[Any]", offset: int) -> Iterator[str]:
    """The keys of one value: of all its elements and fields."""
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        count = 1
        for length in shape:
            count *= length
        for number in range(count if base.itemsize > 0 else min(count, 1)):
            yield from _expand(base, offset + number * base.itemsize)
    elif dtype.names is not None:
        for name in dtype.names:
            field, inner = dtype.fields[name][:2]
            yield from _expand(field, offset + inner)
    elif dtype.kind in "SV":
        for at in range(0, dtype.itemsize, MAX_KEY_BYTES):
            yield f"{offset + at}:{min(MAX_KEY_BYTES, dtype.itemsize - at)}"
    else:
        yield from _numbers(dtype, offset)


def _numbers(dtype: "numpy.dtype[Any]", offset: int) -> Iterator[str]:
    big = "be" if dtype.byteorder == ">" else ""
    if dtype.kind == "U":
        for at in range(offset, offset + dtype.itemsize, 4):
            yield f"{at}:u32{big}"
    elif dtype.kind == "c" and dtype.itemsize <= 16:
        half = dtype.itemsize // 2
        yield f"{offset}:f{8 * half}{big}"
        yield f"{offset + half}:f{8 * half}{big}"
    elif dtype.kind in _KINDS and dtype.itemsize <= 8:
        yield f"{offset}:{_KINDS[dtype.kind]}{8 * dtype.itemsize}{big}"
    else:
        raise TypeError(f"values of type {dtype} cannot be keys")
