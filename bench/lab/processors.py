# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""What the processors of this machine did, to tell a measurement from an accident: a virtual machine's host may keep them
from it for seconds, and memory that it has to bring back costs time in the kernel."""
import dataclasses
import os
import time

MOST_STOLEN = 0.1  # of the processors' time: what is measured beyond that was disturbed
_TICKS = os.sysconf("SC_CLK_TCK")
_KERNEL, _STOLEN = (2, 5, 6), 7  # columns of /proc/stat: system, irq, softirq; steal


@dataclasses.dataclass
class Spent:
    """Since some moment: seconds on the clock, and of all processors together."""
    wall: float
    kernel: float
    stolen: float  # wanted, and given to others by the host

    def stolen_part(self):
        """Of what the processors could have done."""
        return self.stolen / max(self.wall * os.cpu_count(), 1 / _TICKS)


def _now():
    with open("/proc/stat", encoding="ascii") as file:
        columns = [int(column) / _TICKS for column in file.readline().split()[1:]]
    return Spent(time.monotonic(), sum(columns[one] for one in _KERNEL), columns[_STOLEN])


class Account:
    """Begins where it is made."""

    def __init__(self):
        self._begin = _now()

    def spent(self):
        now = _now()
        return Spent(now.wall - self._begin.wall, now.kernel - self._begin.kernel, now.stolen - self._begin.stolen)
