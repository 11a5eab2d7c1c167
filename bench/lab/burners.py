# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Slow hosts without root: processes that burn processor time next to them, as in the papers' experiments.

Every host is bound to one core. Hosts and burners on a core share it by their niceness: the kernel gives each runnable
process a part in proportion to its weight, 1024 / 1.25^nice. Burners use the part of the core that no host shall have.

This is weaker than a quota. Niceness has steps of a quarter, so that the parts are approximate, and the time that one host
does not use goes to its neighbours on the core. Results name the mode.
"""
import dataclasses
import math
import os
import subprocess
import sys

from .cores import pack

BURNER = os.path.join(os.path.dirname(os.path.realpath(__file__)), "burner.py")
STEP = 1.25  # of weight, for each level of niceness
MAX_NICE = 19
WORTH_BURNING = 0.02  # of a core; a burner itself varies by more


@dataclasses.dataclass
class Seat:
    """A host on a core, or a burner if `host` is None."""
    host: int | None
    wish: float  # wanted part of the core
    nice: int = 0
    part: float = 0.0  # real part of the core while all seats are busy


def _set_levels(seats, levels):
    """Sets niceness and real part of all seats of a core. The largest wish gets niceness 0."""
    largest = max(seat.wish for seat in seats)
    for seat in seats:
        seat.nice = min(levels, round(math.log(largest / seat.wish) / math.log(STEP)))
    total = sum(STEP**-seat.nice for seat in seats)
    for seat in seats:
        seat.part = STEP**-seat.nice / total


def arrange(cpus, cores, base_nice=0):
    """Core -> seats, for hosts that want these parts of a core (None: a whole one). A host gets at most one core.
    `base_nice`: niceness of this process, above which fewer levels are left."""
    wishes = [min(1.0, cpu or 1.0) for cpu in cpus]
    seats = {core: [Seat(host, wishes[host]) for host in on_core] for core, on_core in pack(wishes, cores).items()}
    for on_core in seats.values():
        rest = 1.0 - sum(seat.wish for seat in on_core)
        if on_core and rest > WORTH_BURNING:
            on_core.append(Seat(None, rest))
        if on_core:
            _set_levels(on_core, max(0, MAX_NICE - base_nice))
    return seats


class Burning:
    """A context in which the burners run. They also end if this process is killed."""

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
