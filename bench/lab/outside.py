# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Takes threads with certain names out of the processor quotas of their hosts while a command runs, as if each host had
another processor for them. They may use all cores. All other limits stay. Version 1 of control groups only: version 2 moves
whole processes."""
import contextlib
import os
import threading

from . import cgroups, removal
from .system import LabError, reason

LOOK_SECONDS = 0.01
GROUP = "_outside"  # of the lab, without a quota; not a valid host name


def _threads(process, names):
    """The numbers of the threads of the process that have one of these names."""
    folder = f"/proc/{process}/task"
    for thread in os.listdir(folder):
        with contextlib.suppress(OSError), open(f"{folder}/{thread}/comm", encoding="utf-8") as file:
            if file.read().rstrip("\n") in names:
                yield int(thread)


def missing(state):
    """Why this is not possible in the lab, or ""."""
    tree = removal.trees().get("cpu")
    possible = state["mode"] == "hosts" and tree and tree.version == 1
    return "" if possible else "quotas by version 1 of the cpu controller of control groups are needed"


class Outside:
    """As a context: moves such threads of all hosts of the lab, from the moment at which they get their name. `names`: separated
    by commas."""

    def __init__(self, place, state, names):
        if why := missing(state):
            raise LabError(f"run: --outside: {why}")
        top = os.path.join(removal.trees()["cpu"].mount, place.name)
        self._hosts = [os.path.join(top, host["name"]) for host in state["hosts"]]
        self._group = os.path.join(top, GROUP)
        self._names = names.split(",")
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def _move(self, thread):
        with contextlib.suppress(OSError):  # it has ended
            with open(os.path.join(self._group, "tasks"), "w", encoding="ascii") as file:
                file.write(str(thread))
            os.sched_setaffinity(thread, os.sched_getaffinity(0))

    def _watch(self):
        seen = set()
        while not self._end.wait(LOOK_SECONDS):
            for process in set().union(*map(cgroups.members, self._hosts)):
                with contextlib.suppress(OSError):
                    for thread in set(_threads(process, self._names)) - seen:
                        seen.add(thread)
                        self._move(thread)

    def __enter__(self):
        try:
            os.makedirs(self._group, exist_ok=True)
        except OSError as error:
            raise LabError(f"run: --outside: cannot make {self._group}: {reason(error)}") from error
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()
