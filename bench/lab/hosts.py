# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Brings a lab up and takes it down. If `up` fails half-way, nothing is left."""
import os

from . import burners, cgroups, cluster, cores, launch, network, removal
from .place import locked, make_folder, read_state, write_state
from .system import LabError, reason, say

SCHEMA = "hetsort.lab/2"


def _host_file(place, host, lines):
    with open(place.host_file(host["address"]), "w", encoding="utf-8") as file:
        file.writelines(f"{key}={value}\n" for key, value in lines)


def _make_disks(place, state):
    make_folder(place.disks)
    for host in state["hosts"]:
        os.mkdir(host["disk"])
    launch.link_disks(state)


def _cores_here():
    return sorted(os.sched_getaffinity(0))


def _build_hosts(place, hosts, state):
    """Makes namespaces and control groups."""
    trees = removal.trees()
    device = cgroups.block_device(place.disks)
    wanted = [cgroups.settings(host, trees, device) for host in hosts]  # throws before anything is made
    cables = network.build(place, hosts)
    seats = cores.seats([host.cpu for host in hosts], _cores_here())
    for host, (values, notes), cable_notes, core, entry in zip(hosts, wanted, cables, seats, state["hosts"]):
        groups, group_notes = cgroups.apply(place.name, host.name, values)
        entry["notes"] = notes + group_notes + cable_notes
        entry["groups"] = groups
        entry["core"] = core
        lines = [("name", host.name), ("namespace", place.namespace(host.name)), ("disk", entry["disk"])]
        lines += [] if core is None else [("core", core)]
        _host_file(place, entry, lines + [("group", group) for group in groups])
    _host_file(place, {"address": "switch"}, [("name", "switch"), ("namespace", place.switch)])
    cgroups.prefer(place.name, trees)


def seat_burners(place, hosts, state):
    """For a lab without hosts: chooses the core and niceness that each rank gets from the next run on."""
    arranged = burners.arrange([host.cpu for host in hosts], _cores_here(), os.nice(0))
    state["burners"] = [(core, seat.nice) for core, on in arranged.items() for seat in on if seat.host is None]
    for core, seat in ((core, seat) for core, on in arranged.items() for seat in on if seat.host is not None):
        host, entry = hosts[seat.host], state["hosts"][seat.host]
        entry["part"] = seat.part
        limits = [key for key in ("memory", "disk_read", "disk_write", "bandwidth", "latency") if getattr(host, key)]
        entry["notes"] = [f"{', '.join(limits)}: left out, a lab of burners has none"] * bool(limits)
        if host.cpu and host.cpu > 1:
            entry["notes"].append("cpu: a lab of burners gives one core at most")
        _host_file(place, entry, [("name", host.name), ("disk", entry["disk"]), ("core", core), ("nice", seat.nice)])


def _new_state(place, text, hosts, mode, owner):
    """The agent identifies a host by its address; in a lab of burners that is the rank."""
    state = {"schema": SCHEMA, "mode": mode, "text": text, "complete": False, "folder": place.state,
             "disks": place.disks, "owner": owner, "hosts": []}
    for number, host in enumerate(hosts):
        address = network.address(number) if mode == "hosts" else str(number)
        state["hosts"].append({**host.__dict__, "address": address, "disk": place.disk(host.name), "notes": []})
    return state


def _build(place, state, hosts):
    make_folder(place.state)
    os.mkdir(os.path.join(place.state, "hosts"))
    write_state(place, state)
    _make_disks(place, state)
    (_build_hosts if state["mode"] == "hosts" else seat_burners)(place, hosts, state)
    state["complete"] = True
    write_state(place, state)


def standing(place):
    """The state of a complete lab, or None."""
    state = read_state(place)
    if not state or state.get("schema") != SCHEMA or not state.get("complete"):
        return None
    there = set(network.namespaces(place))
    whole = all(os.path.exists(place.host_file(host["address"])) and os.path.isdir(host["disk"]) and
                all(map(os.path.isdir, host.get("groups", []))) and
                (state["mode"] == "burners" or place.namespace(host["name"]) in there) for host in state["hosts"])
    return state if whole else None


def _is_running(process):
    return os.path.exists(f"/proc/{process}")


def up(place, path, mode, for_itself=False):
    """Returns the state of the lab of this file, and whether it was made now. `for_itself`: only this process uses it and
    takes it down. Throws: LabError, with nothing left behind."""
    text, hosts = cluster.read(path)
    with locked(place):
        state = standing(place)
        if state and state["owner"]:
            if _is_running(state["owner"]):
                raise LabError("another command uses the lab until it ends; './dev lab up FILE' makes a lab for several commands")
            state = None  # its owner was killed
        if state and (state["text"], state["mode"]) == (text, mode):
            return state, False
        if state:
            raise LabError(f"another lab is up ({len(state['hosts'])} hosts, mode {state['mode']}); "
                           "'./dev lab down' first")
        state = _new_state(place, text, hosts, mode, os.getpid() if for_itself else None)
        try:
            with removal.signals_blocked():
                left = removal.clear(place)
            if left:
                raise LabError("an earlier lab could not be taken down: " + "; ".join(left))
            _build(place, state, hosts)
        except BaseException as error:
            with removal.signals_blocked():
                for one in removal.clear(place):
                    say(one)
            if isinstance(error, OSError):
                raise LabError(f"cannot set up {error.filename or 'the lab'}: {reason(error)}") from error
            raise
    return state, True


def down(place):
    """Removes the lab if there is one. Throws: LabError that names what could not be removed."""
    with locked(place), removal.signals_blocked():
        left = removal.clear(place)
    if left:
        raise LabError("; ".join(left))
