# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""The lab file: the cluster file of `hetsort plan --cluster` (docs/formats/cluster.md), with the limits of each host.

The lab uses `cpu` (cores), `memory`, `disk_read`, `disk_write`, `bandwidth` and `latency`; the planner checks them too.
The lab ignores the other fields, which only the planner uses.
"""
import dataclasses
import difflib
import re
import tomllib

from .quantity import parse_bytes, parse_cores, parse_link, parse_rate, parse_seconds
from .system import LabError, reason

BUILT = {"cpu": parse_cores, "memory": parse_bytes, "disk_read": parse_rate, "disk_write": parse_rate,
         "bandwidth": parse_link, "latency": parse_seconds}
KNOWN = ["name", "count", "speed", "compute", "merge", "message", "receive", "bandwidth_in", "bandwidth_out", "root", *BUILT]
KNOWN_BEFORE_NODES = ["start", "select", "publish", "shared_bandwidth", "shared_disk_read", "shared_disk_write", "links",
                      "node"]
BY_RANK = "by-rank"  # folder of links, next to the hosts' disks, which have the names of the hosts
MAX_HOSTS = 64  # of one machine
MIN_CORES = 0.01  # with less, a host would run less often than every 100 ms
MIN_MEMORY = 16 << 20  # bytes; with less the daemon of mpirun does not start
_HOST_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]{0,38}[A-Za-z0-9])?", re.ASCII)


@dataclasses.dataclass(frozen=True)
class Host:
    """One host. Units: bytes, seconds, cores. None: not limited."""
    name: str
    cpu: float | None = None
    memory: int | None = None
    disk_read: int | None = None
    disk_write: int | None = None
    bandwidth: float | None = None
    latency: float | None = None


class _Lines:
    """Line numbers of fields, which tomllib reports for syntax errors only."""

    def __init__(self, text):
        self.nodes = []
        for number, line in enumerate(text.splitlines(), 1):
            if re.match(r"\s*\[\[\s*node\s*\]\]", line):
                self.nodes.append((number, {}))
            elif found := re.match(r"\s*[\"']?([A-Za-z0-9_-]+)[\"']?\s*[.=]", line):
                keys = self.nodes[-1][1] if self.nodes else {}
                keys.setdefault(found[1], number)
        self.text = text

    def of(self, node, key):
        if node >= len(self.nodes):
            return 1
        line, keys = self.nodes[node]
        return keys.get(key, line)

    def of_top(self, key):
        for number, line in enumerate(self.text.splitlines(), 1):
            if re.match(rf"\s*(\[\[?\s*)?[\"']?{re.escape(key)}\b", line):
                return number
        return 1


def _unknown(key, known):
    near = difflib.get_close_matches(key, known, 1)
    return f"unknown field '{key}'" + (f"; the nearest is '{near[0]}'" if near else "")


def _host(table, fail):
    """The values of one [[node]]. fail(key, message) throws."""
    for key in table:
        if key not in KNOWN:
            fail(key, _unknown(key, KNOWN))
    values = {}
    for key, parse in BUILT.items():
        if key in table:
            try:
                values[key] = parse(table[key])
            except ValueError as error:
                fail(key, f"{key} {error}")
    if values.get("cpu", MIN_CORES) < MIN_CORES:
        fail("cpu", f"cpu is below {MIN_CORES} of a core")
    if values.get("memory", MIN_MEMORY) < MIN_MEMORY:
        fail("memory", f"memory is below {MIN_MEMORY >> 20} MiB: no program starts with that")
    return values


def _names(table, first, fail):
    count = table.get("count", 1)
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        fail("count", "count must be a whole number, at least 1")
    if first + count > MAX_HOSTS:
        fail("count" if "count" in table else "", f"more than {MAX_HOSTS} hosts")
    name = table.get("name", f"host{first}")
    if not isinstance(name, str) or not _HOST_NAME.fullmatch(name):
        fail("name", f"name '{name}' is no host name of 1 to 40 letters, digits and '-'")
    if name == BY_RANK and count == 1:
        fail("name", f"name '{name}' is that of the folder beside the hosts' disks")
    return [name] if count == 1 else [f"{name}-{i}" for i in range(count)]


def parse(text, source):
    """The hosts in file order. A node with a `count` becomes NAME-0, NAME-1 ... Throws: LabError with source and line."""
    lines = _Lines(text)
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # tomllib also throws plain ValueErrors
        raise LabError(f"{source}: {error}") from error
    for key in document:
        if key not in KNOWN_BEFORE_NODES:
            raise LabError(f"{source}:{lines.of_top(key)}: {_unknown(key, KNOWN_BEFORE_NODES)}")
    tables = document.get("node", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise LabError(f"{source}:{lines.of_top('node')}: node must be a list of tables, [[node]]")
    hosts = []
    for number, table in enumerate(tables):
        def fail(key, message, number=number):
            raise LabError(f"{source}:{lines.of(number, key)}: {message}")
        values = _host(table, fail)
        for name in _names(table, len(hosts), fail):
            if any(host.name == name for host in hosts):
                fail("name", f"two hosts are named '{name}'")
            hosts.append(Host(name, **values))
    if not hosts:
        raise LabError(f"{source}: there is no [[node]]")
    return hosts


def read(path):
    """The file's text and its hosts. Throws: LabError."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except UnicodeDecodeError as error:
        raise LabError(f"{path}: not UTF-8 text: {error.reason} at byte {error.start}") from error
    except OSError as error:
        raise LabError(f"cannot read {path}: {reason(error)}") from error
    return text, parse(text, path)


def fiction(hosts, cores):
    """Why this machine with so many cores cannot give the hosts their speeds, or ""."""
    unlimited = [host.name for host in hosts if host.cpu is None]
    total = sum(host.cpu for host in hosts if host.cpu is not None)
    if unlimited:
        return f"the speeds are fiction: {', '.join(unlimited)} without cpu take all they can get of {cores} cores"
    if total >= cores:
        return f"the speeds are fiction: the hosts want {total:.3g} cores of {cores}; the sum must stay below"
    return ""
