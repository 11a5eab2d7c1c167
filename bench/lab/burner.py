# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""burner.py CORE NICE PARENT: a process that uses the part of a core that no host shall have (burners.py), until its parent
ends. It stays in its parent's session, because the kernel divides a core among the processes of a session."""
import ctypes
import os
import signal
import sys

_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG


def burn(core, nice, parent):
    """A burner's whole life."""
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the ^C of a terminal is for the run; the parent ends its burners
    os.sched_setaffinity(0, {core})
    os.nice(nice)
    while True:
        pass


if __name__ == "__main__":
    burn(*map(int, sys.argv[1:]))
