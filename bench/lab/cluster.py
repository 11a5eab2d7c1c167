# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""The lab file: the cluster file of `hetsort plan --cluster` (docs/formats/cluster.md), with the limits of each host.

hetsort reads it and prints the limits as JSON (docs/formats/plan.md). Only what a lab requires beyond the planner is
checked here.
"""
import dataclasses
import json
import re
import subprocess

from .system import PROGRAM, LabError, reason

BY_RANK = "by-rank"  # folder of links, next to the hosts' disks, which have the names of the hosts
MAX_HOSTS = 64  # of one machine
MIN_CORES = 0.01  # with less, a host would run less often than every 100 ms
MIN_MEMORY = 16 << 20  # bytes; with less the daemon of mpirun does not start
PATIENCE_SECONDS = 60  # reading a file takes milliseconds
INPUT = "/dev/stdin"
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


# The kernel wants whole bytes on disks and in memory.
LIMITS = {"cpu": float, "memory": int, "disk_read": int, "disk_write": int, "bandwidth": float, "latency": float}


def _nodes(text, source):
    """The nodes of a cluster file, as hetsort prints them. `source` stands in the messages. Throws: LabError."""
    command = [PROGRAM, "plan", "-n", "0", "--ignore-memory", "--cluster", INPUT, "--format", "json"]
    try:
        done = subprocess.run(command, input=text, capture_output=True, encoding="utf-8", timeout=PATIENCE_SECONDS, check=False)
    except OSError as error:
        raise LabError(f"cannot start {PROGRAM}, which reads {source}: {reason(error)}; './dev build' builds it") from error
    except subprocess.TimeoutExpired as error:
        raise LabError(f"{PROGRAM} did not read {source} within {PATIENCE_SECONDS} s") from error
    if done.returncode:
        raise LabError(done.stderr.strip().removeprefix("hetsort: ").replace(INPUT, source))
    return json.loads(done.stdout)["cluster"]


def _check(host, names, source):
    """Throws: LabError for what the planner accepts and a lab does not."""
    def fail(message):
        raise LabError(f"{source}: host '{host.name}': {message}")

    if not _HOST_NAME.fullmatch(host.name):
        fail("a host's name has 1 to 40 letters, digits and '-'")
    if host.name == BY_RANK:
        fail("this is the name of the folder beside the hosts' disks")
    if host.name in names:
        fail("a second host has this name")
    if host.cpu is not None and host.cpu < MIN_CORES:
        fail(f"cpu is below {MIN_CORES} of a core")
    if host.memory is not None and host.memory < MIN_MEMORY:
        fail(f"memory is below {MIN_MEMORY >> 20} MiB: no program starts with that")


def parse(text, source):
    """The hosts in file order. Nodes of one name become NAME-0, NAME-1 ..., and nodes without a name host0, host1 ... by
    their places. Throws: LabError with source and, for what hetsort refuses, line and column."""
    nodes = _nodes(text, source)
    if len(nodes) > MAX_HOSTS:
        raise LabError(f"{source}: more than {MAX_HOSTS} hosts")
    names = [f"host{place}" if node["name"] == str(place) else node["name"] for place, node in enumerate(nodes)]
    hosts = []
    for place, node in enumerate(nodes):
        name = names[place]
        if names.count(name) > 1:
            name += f"-{names[:place].count(name)}"
        host = Host(name, **{key: number(node[key]) for key, number in LIMITS.items() if key in node})
        _check(host, [other.name for other in hosts], source)
        hosts.append(host)
    return hosts


def parse_limits(limits):
    """Numbers of some limits, given as people write them in the file. Throws: LabError that names the limit."""
    lines = "".join(f"{key} = {json.dumps(value) if isinstance(value, str) else value}\n" for key, value in limits.items())
    try:
        [host] = parse(f"[[node]]\nspeed = 1\n{lines}", INPUT)
    except LabError as error:
        raise LabError(re.sub(rf"^{INPUT}:(\d+:\d+:| host '\w+':) ", "", str(error))) from error
    return {key: getattr(host, key) for key in limits}


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
