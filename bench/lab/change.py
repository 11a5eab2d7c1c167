# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Changes a host while the lab is up: programs on it become slower or faster at once. In a lab of burners the change holds
from the next run on, because a rank gets its niceness when it starts."""
import dataclasses

from . import cgroups, cluster, hosts, network, removal
from .place import locked, write_state
from .system import LabError, run

CHANGEABLE = ("cpu", "bandwidth")


def _number(text):
    try:
        return float(text)
    except ValueError:
        raise LabError(f"set: cpu must be a number, not '{text}'") from None


def parse(words):
    """The values of "cpu=0.25" and "bandwidth=100mbit". Throws: LabError."""
    limits = {}
    for word in words:
        key, is_there, text = word.partition("=")
        if not is_there or key not in CHANGEABLE:
            raise LabError(f"set: '{word}' is neither cpu=CORES nor bandwidth=RATE")
        limits[key] = _number(text) if key == "cpu" else text
    if not limits:
        raise LabError("set: nothing to change: cpu=CORES or bandwidth=RATE")
    try:
        return cluster.parse_limits(limits)
    except LabError as error:
        raise LabError(f"set: {error}") from error


def _of_state(entry):
    return cluster.Host(**{field.name: entry[field.name] for field in dataclasses.fields(cluster.Host)})


def left_out(entry, key):
    """Why the host lacks a limit that the file gives it, or "" if it has the limit."""
    return next((note for note in entry["notes"] if ": left out, " in note and key in note.split(": ")[0].split(", ")), "")


def _refuse_what_is_not_limited(entry, values):
    for key in values:
        if entry[key] is None:
            raise LabError(f"set: {entry['name']} has no {key} in the file: only a limit of the file can change")
        if left_out(entry, key):
            raise LabError(f"set: {key} of {entry['name']} was left out when the lab came up: there is no limit to change")


def _in_hosts(place, state, entry, values):
    """Replaces the limits of this host in the kernel."""
    host = _of_state(entry)
    if "cpu" in values:
        limits = cgroups.settings(cluster.Host(host.name, cpu=host.cpu), removal.trees(), None)[0]
        cgroups.apply(place.name, host.name, limits)
    if "bandwidth" in values:
        below_latency = bool(host.latency) and not any(note.startswith("latency:") for note in entry["notes"])
        number = state["hosts"].index(entry)
        for command in network.bandwidth_commands(place, host, number, below_latency, "change"):
            run(command)


def change(place, path, name, values):
    """Changes the host and returns the new state of the lab. The same values again change nothing. Throws: LabError if the
    lab of this file is not up, or has no such host or limit."""
    text, _ = cluster.read(path)
    with locked(place):
        state = hosts.standing(place)
        if not state:
            raise LabError(f"set: no lab is up; './dev lab up {path}' first")
        if state["text"] != text:
            raise LabError(f"set: the lab that is up was made from another file than {path}")
        entry = next((host for host in state["hosts"] if host["name"] == name), None)
        if not entry:
            raise LabError(f"set: the lab has no host '{name}'; it has {', '.join(h['name'] for h in state['hosts'])}")
        if state["mode"] == "burners" and "bandwidth" in values:
            raise LabError("set: a lab of burners has no links")
        _refuse_what_is_not_limited(entry, values)
        entry.update(values)
        if state["mode"] == "burners":
            hosts.seat_burners(place, [_of_state(host) for host in state["hosts"]], state)
        else:
            _in_hosts(place, state, entry, values)
        write_state(place, state)
    return state
