# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Which core a host is on. A quota holds for a host, not for a core: where several threads of it run on several cores, the
kernel hands the quota out to the cores in slices, of which one may be all of a period's, and the thread that asked second
stands still although it has work. A host of one core at most is therefore bound to one, as a slow machine would have it."""

_ROUNDING = 1e-9


def pack(wishes, cores):
    """Core -> numbers of the hosts on it, the largest first, each to the core with most room. `wishes`: parts of a core."""
    on_core = {core: [] for core in cores}
    for host in sorted(range(len(wishes)), key=lambda one: (-wishes[one], one)):
        core = min(cores, key=lambda one: (sum(wishes[other] for other in on_core[one]), one))
        on_core[core].append(host)
    return on_core


def seats(cpus, cores):
    """The core of each host. None for all where not all fit: where one wants more than a core or all it can get, or a core
    would have to give more than it has."""
    unbound = [None] * len(cpus)
    if any(cpu is None for cpu in cpus):
        return unbound
    found = unbound.copy()
    for core, on_core in pack(cpus, cores).items():
        if sum(cpus[host] for host in on_core) > 1 + _ROUNDING:
            return unbound
        for host in on_core:
            found[host] = core
    return found


def crowded(entries):
    """Why speeds are fiction now that hosts were changed where they are, or an empty text."""
    wanted = {}
    for entry in entries:
        if entry.get("core") is not None:
            wanted.setdefault(entry["core"], []).append(entry)
    texts = []
    for core, on_core in sorted(wanted.items()):
        total = sum(entry["cpu"] for entry in on_core)
        if total > 1 + _ROUNDING:
            texts.append(f"{', '.join(entry['name'] for entry in on_core)} want {total:.3g} of core {core}")
    return f"the speeds are fiction: {'; '.join(texts)}; 'down' and 'up' with other values in the file" if texts else ""
