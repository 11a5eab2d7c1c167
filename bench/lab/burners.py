# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Slow hosts without root: co-running burners, as in the papers' experiments.

Every host is bound to one core. Hosts and burners on a core share it by their niceness: the kernel gives each runnable
one a part in proportion to its weight, 1024 / 1.25^nice. Burners take what the hosts of a core are not to have.

That is weaker than a quota. Niceness goes in steps of a quarter, so the parts are near what was asked for, not equal to
it; and what one host does not use, its neighbours on the core get. Results say that burners were used.
"""
import dataclasses
import math
import os
import subprocess
import sys

from .cores import pack

BURNER = os.path.join(os.path.dirname(os.path.realpath(__file__)), "burner.py")
STEP = 1.25  # of weight, for each level of niceness
LOWEST = 19
WORTH_BURNING = 0.02  # of a core; less than a burner's own unrest


@dataclasses.dataclass
class Seat:
    """One host (or burner, host None) on a core."""
    host: int | None
    wish: float  # part of the core
    nice: int = 0
    part: float = 0.0  # of the core, while all on it are busy


def _settle(seats, levels):
    """Niceness and true part of all who share a core: the largest wish gets level 0."""
    largest = max(seat.wish for seat in seats)
    for seat in seats:
        seat.nice = min(levels, round(math.log(largest / seat.wish) / math.log(STEP)))
    total = sum(STEP**-seat.nice for seat in seats)
    for seat in seats:
        seat.part = STEP**-seat.nice / total


def arrange(cpus, cores, base_nice=0):
    """Core -> seats, for hosts that want so much of a core (None: all of one): the largest first, each to the core with
    most room. A host gets one core at most. `base_nice`: where this process is already, which leaves fewer levels."""
    wishes = [min(1.0, cpu or 1.0) for cpu in cpus]
    seats = {core: [Seat(host, wishes[host]) for host in on_core] for core, on_core in pack(wishes, cores).items()}
    for on_core in seats.values():
        rest = 1.0 - sum(seat.wish for seat in on_core)
        if on_core and rest > WORTH_BURNING:
            on_core.append(Seat(None, rest))
        if on_core:
            _settle(on_core, max(0, LOWEST - base_nice))
    return seats


class Burning:
    """While it lasts, the burners burn. They end with this process, however it ends."""

    def __init__(self, burners):
        self._burners = burners  # (core, nice)
        self._processes = []

    def __enter__(self):
        try:
            for core, nice in self._burners:
                self._processes.append(subprocess.Popen(
                    [sys.executable, BURNER, str(core), str(nice), str(os.getpid())],
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait()
