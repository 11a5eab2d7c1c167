# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Which core a host is bound to. A quota holds for a host, and the kernel hands it out to cores in slices. If threads of a
host run on several cores, one core may get the whole quota of a period, and threads on the others wait. A host that has at
most one core is therefore bound to one."""

_ROUNDING = 1e-9


def pack(wishes, cores):
    """Core -> numbers of its hosts. The largest host is placed first, each on the core with the most room. `wishes`: parts of
    a core."""
    on_core = {core: [] for core in cores}
    for host in sorted(range(len(wishes)), key=lambda one: (-wishes[one], one)):
        core = min(cores, key=lambda one: (sum(wishes[other] for other in on_core[one]), one))
        on_core[core].append(host)
    return on_core


def seats(cpus, cores):
    """The core of each host. None for all hosts if they do not fit: if one wants more than a core or has no limit, or if a
    core would be overcommitted."""
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
    """Why the cores cannot give the hosts their speeds after a change, or ""."""
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
