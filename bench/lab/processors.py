# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""What the processors of this machine did during a measurement. A hypervisor may give them to others for seconds (steal
time), and time in the kernel grows while it brings back memory."""
import dataclasses
import os
import time

MAX_STOLEN = 0.1  # of the processors' time: a measurement with more steal time is an outlier
BUSY_LOAD = 0.5  # a machine with more running processes, averaged over the last minute, is busy
_TICKS = os.sysconf("SC_CLK_TCK")
_KERNEL, _STOLEN = (2, 5, 6), 7  # columns of /proc/stat: system, irq, softirq; steal


@dataclasses.dataclass
class Spent:
    """Seconds since some moment. kernel and stolen are sums over all processors."""
    wall: float
    kernel: float
    stolen: float  # a processor was wanted, and the hypervisor gave it to others

    def stolen_part(self):
        """Steal time as a part of all processors' time."""
        return self.stolen / max(self.wall * os.cpu_count(), 1 / _TICKS)


def _now():
    with open("/proc/stat", encoding="ascii") as file:
        columns = [int(column) / _TICKS for column in file.readline().split()[1:]]
    return Spent(time.monotonic(), sum(columns[one] for one in _KERNEL), columns[_STOLEN])


def load():
    """Processes that run or want to run, averaged over the last minute."""
    return os.getloadavg()[0]


class Account:
    """Counts from its construction."""

    def __init__(self):
        self._begin = _now()

    def spent(self):
        now = _now()
        return Spent(now.wall - self._begin.wall, now.kernel - self._begin.kernel, now.stolen - self._begin.stolen)
