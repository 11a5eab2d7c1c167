# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Takes a lab down. Everything is found by the lab's name alone, so that the remains of a killed `up` are removed too."""
import contextlib
import os
import signal
import time

from . import cgroups, network
from .place import read_state, remove_folder
from .system import reason

END_SECONDS = 2  # for the processes of a lab to end after SIGTERM
STAY_SECONDS = 5  # for the kernel to release a group whose processes are dead


def trees():
    """This machine's controllers."""
    with open("/proc/self/mounts", encoding="utf-8") as file:
        return cgroups.find_trees(file.read())


def _members(place):
    """Processes of the lab: in its namespaces, in its control groups, or with its mark in their environment."""
    found = network.members(place)
    for group in cgroups.lab_groups(place.name, trees()):
        found |= cgroups.members(group)
    mark = b"\0HETSORT_LAB_STATE=" + os.fsencode(place.state) + b"\0"
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{entry}/environ", "rb") as file:
            if mark in b"\0" + file.read():
                found.add(int(entry))
    return found - {os.getpid(), os.getppid()}


def _end_processes(place):
    for number, patience in ((signal.SIGTERM, END_SECONDS), (signal.SIGKILL, STAY_SECONDS)):
        deadline = time.monotonic() + patience
        for process in _members(place):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, number)
        while _members(place):
            if time.monotonic() > deadline:
                break
            time.sleep(0.02)
        else:
            return


def _remove_groups(place):
    left = []
    deadline = time.monotonic() + STAY_SECONDS
    for group in cgroups.lab_groups(place.name, trees()):
        while True:
            try:
                os.rmdir(group)
                break
            except FileNotFoundError:
                break
            except OSError as error:
                if time.monotonic() > deadline:
                    left.append(f"cannot remove {group}: {reason(error)}")
                    break
                time.sleep(0.02)
    return left


def clear(place):
    """Removes everything of the lab. Returns what could not be removed, and why."""
    state = read_state(place) or {}
    _end_processes(place)
    left = network.remove(place) + _remove_groups(place)
    left += [remove_folder(folder) for folder in {place.disks, state.get("disks", place.disks)}]
    left.append(remove_folder(place.state))  # last, because it has the path of the disks
    return [one for one in left if one]


@contextlib.contextmanager
def signals_blocked():
    """Delays signals, because taking down is short and must be completed."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
