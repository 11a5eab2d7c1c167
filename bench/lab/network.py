# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""The network of the hosts: one namespace per host, connected by veth pairs to a bridge in a namespace of its own.

It does not touch the network of the machine, and it vanishes with the namespaces. All labs use the same addresses, because
they cannot see each other.
"""
import os

from .system import LabError, run

NETWORK = "10.77.0.0/16"
INTERFACE = "eth0"  # in the host
# The bucket of a tbf must hold the bytes that its rate lets through between two timer ticks; 1 ms is ample.
BUCKET_SECONDS = 1e-3
MIN_BUCKET = 64 << 10  # bytes: the largest segment of the kernel
QUEUE_SECONDS = "50ms"  # packets that wait longer are dropped, as in a switch
FOLDER = "/run/netns"  # where iproute2 keeps the namespaces' names


SWITCH_ADDRESS = "10.77.255.254/16"  # only the probe uses it


def address(number):
    """Address of the host with this number, from 0."""
    return f"10.77.{number // 200}.{number % 200 + 1}"


def host_commands(place, host, number):
    """The commands that give this host its namespace and its cable to the switch."""
    inside, port = place.namespace(host.name), f"port{number}"
    return [
        ["ip", "netns", "add", inside],
        ["ip", "-n", inside, "link", "set", "lo", "up"],
        ["ip", "-n", inside, "link", "add", INTERFACE, "type", "veth", "peer", "name", port, "netns", place.switch],
        ["ip", "-n", inside, "address", "add", f"{address(number)}/{NETWORK.split('/')[1]}", "dev", INTERFACE],
        ["ip", "-n", inside, "link", "set", INTERFACE, "up"],
        ["ip", "-n", place.switch, "link", "set", port, "master", "switch", "up"],
    ]


def switch_commands(place):
    return [
        ["ip", "netns", "add", place.switch],
        ["ip", "-n", place.switch, "link", "add", "switch", "type", "bridge"],
        ["ip", "-n", place.switch, "address", "add", SWITCH_ADDRESS, "dev", "switch"],
        ["ip", "-n", place.switch, "link", "set", "switch", "up"],
    ]


def _ends(place, host, number):
    """Both ends of the host's cable. A queue limits only what leaves through it, so that each direction needs its own."""
    return [(place.namespace(host.name), INTERFACE), (place.switch, f"port{number}")]


def latency_commands(place, host, number):
    return [["tc", "-n", namespace, "qdisc", "add", "dev", device, "root", "handle", "1:", "netem", "delay",
             f"{round(host.latency * 1e6)}us"] for namespace, device in _ends(place, host, number)]


def bandwidth_commands(place, host, number, below_latency, word="add"):
    """`word`: "add", or "change" if the host already has a rate."""
    where = ["parent", "1:1"] if below_latency else ["root"]
    bucket = max(MIN_BUCKET, round(host.bandwidth * BUCKET_SECONDS))
    return [["tc", "-n", namespace, "qdisc", word, "dev", device, *where, "tbf", "rate", f"{round(host.bandwidth)}bps",
             "burst", str(bucket), "latency", QUEUE_SECONDS] for namespace, device in _ends(place, host, number)]


def _try_all(what, commands):
    """For optional limits. Returns a note if a command fails."""
    try:
        for command in commands:
            run(command)
    except LabError as error:
        return f"{what}: left out, {error}"
    return ""


def build(place, hosts):
    """Returns notes, one list per host. Throws: LabError if namespaces, bridge or cables cannot be made."""
    try:
        for command in switch_commands(place):
            run(command)
        for number, host in enumerate(hosts):
            for command in host_commands(place, host, number):
                run(command)
    except LabError as error:
        raise LabError(f"{error}; hosts need network namespaces, veth and bridge of the kernel; "
                       "--burners does without") from error
    notes = []
    for number, host in enumerate(hosts):
        delayed = _try_all("latency", latency_commands(place, host, number)) if host.latency else ""
        below = bool(host.latency) and not delayed
        limited = _try_all("bandwidth", bandwidth_commands(place, host, number, below)) if host.bandwidth else ""
        notes.append([note for note in (delayed, limited) if note])
    return notes


def namespaces(place):
    """The existing namespaces of the lab."""
    try:
        return sorted(name for name in os.listdir(FOLDER) if place.owns(name))
    except OSError:
        return []


def members(place):
    """Process numbers inside the lab's namespaces."""
    inodes = set()
    for name in namespaces(place):
        inodes.add(os.stat(os.path.join(FOLDER, name)).st_ino)
    found = set()
    for entry in filter(str.isdigit, os.listdir("/proc")) if inodes else ():
        try:
            if os.stat(f"/proc/{entry}/ns/net").st_ino in inodes:
                found.add(int(entry))
        except OSError:
            continue  # the process has ended
    return found


def remove(place):
    """Returns what could not be removed, and why."""
    left = []
    for name in namespaces(place):
        try:
            run(["ip", "netns", "delete", name])
        except LabError as error:
            left.append(str(error))
    return left
