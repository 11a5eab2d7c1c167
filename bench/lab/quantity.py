# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Sizes, rates and times of the cluster file, in the grammar of partition/quantity.h."""
import math
import re

_PREFIXES = "KMGTP"
_LINK_BITS = {"bit": 1, "kbit": 1e3, "mbit": 1e6, "gbit": 1e9}
_PARTS_OF_A_SECOND = {"us": 1e6, "ms": 1e3, "s": 1.0}
_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)", re.ASCII)


def _split(value):
    """The number and the text after it, or (None, "") if there is no number."""
    text = str(value)
    found = _NUMBER.match(text) if not isinstance(value, (bool, float)) else None
    if not found or math.isinf(float(found[0])):
        return None, ""
    return float(found[0]), text[found.end():]


def _byte_unit(unit):
    unit = unit.upper()
    if unit in ("", "B"):
        return 1
    if unit[0] in _PREFIXES and unit[1:] in ("", "IB", "B"):
        return (1000 if unit[1:] == "B" else 1024) ** (_PREFIXES.index(unit[0]) + 1)
    return None


def parse_bytes(value):
    """Bytes of 4096, "8GiB", "64K" (powers of 1024) or "4GB" (of 1000). Throws: ValueError."""
    number, unit = _split(value)
    scale = _byte_unit(unit.lstrip(" ")) if number is not None else None
    if scale is None or number * scale >= 2**63:
        raise ValueError(f"'{value}' is not a size such as 8GiB, 64K, 4GB or 4096")
    return int(number * scale)


def parse_rate(value):
    """Bytes per second of "500MB/s". Throws: ValueError."""
    rate = parse_bytes(value.removesuffix("/s") if isinstance(value, str) else value)
    if rate <= 0:
        raise ValueError(f"'{value}' must be above zero")
    return rate


def parse_link(value):
    """Bytes per second of "800mbit" or "100MB/s". Throws: ValueError."""
    if not str(value).endswith("bit"):
        return parse_rate(value)
    number, unit = _split(value)
    if number is None or unit not in _LINK_BITS:
        raise ValueError(f"'{value}' is not a rate such as 800mbit, 1gbit or 100MB/s")
    rate = number * _LINK_BITS[unit] / 8
    if not 0 < rate < 2**63:
        raise ValueError(f"'{value}' must be above zero and below 2^63 bytes per second")
    return rate


def parse_seconds(value):
    """Seconds of "200us", "5ms" or "1.5s". Throws: ValueError."""
    number, unit = _split(value)
    if number is None or unit not in _PARTS_OF_A_SECOND:
        raise ValueError(f"'{value}' is not a time such as 200us, 5ms or 1.5s")
    return number / _PARTS_OF_A_SECOND[unit]


def parse_cores(value):
    """A number of cores, 0.5 or 2. Throws: ValueError."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError("must be a number")
    try:
        cores = float(value)
    except OverflowError:  # Python's integers have no limit
        cores = math.inf
    if not math.isfinite(cores) or cores <= 0:
        raise ValueError(f"must be a finite number above zero, not {cores}")
    return cores
