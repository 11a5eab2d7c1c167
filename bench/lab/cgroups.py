# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Control groups limit a host to its share of processor, memory and disk. Both versions of the interface are supported.

Version 1 has one tree of folders per controller (cpu, memory, blkio), version 2 one tree for all (cpu, memory, io); a
machine may have some controllers in one and some in the other. A host's group is MOUNT/LAB/HOST in every tree it needs.
Only the processor controller is required, because a host must be slowed down. Other limits are left out with a note.
"""
import contextlib
import dataclasses
import os
import re

from .system import LabError, reason

# Short, because a host stands still for the rest of a period when its quota is used up: with the usual 100 ms its
# messages would come in bursts. The kernel takes no quota below 1 ms, so a very slow host needs a longer period.
PERIOD_US = 10_000
MIN_QUOTA_US = 1_000
PREFERENCE = {1: ("cpu.shares", "102400"), 2: ("cpu.weight", "10000")}  # a hundred times the default
DISK_CONTROLLER = {1: "blkio", 2: "io"}


@dataclasses.dataclass(frozen=True)
class Tree:
    """Place of a controller."""
    version: int
    mount: str


@dataclasses.dataclass(frozen=True)
class Setting:
    """`value` is written to `file` of the host's group in `tree`. `must`: the lab fails without it."""
    tree: Tree
    controller: str
    file: str
    value: str
    must: bool = False
    if_present: bool = False  # the kernel may have been built without this file


def find_trees(mounts):
    """Controller -> Tree, from the text of /proc/self/mounts. The disk controller is called "disk"."""
    trees = {}
    for line in mounts.splitlines():
        fields = line.split()
        if len(fields) < 4:
            continue
        mount, kind = re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), fields[1]), fields[2]
        if kind == "cgroup":
            words = fields[3].split(",")
            found = {"cpu", "memory", "blkio"} & set(words)
            trees |= {"disk" if word == "blkio" else word: Tree(1, mount) for word in found}
        elif kind == "cgroup2":
            with contextlib.suppress(OSError), \
                    open(os.path.join(mount, "cgroup.controllers"), encoding="ascii") as file:
                for word in {"cpu", "memory", "io"} & set(file.read().split()):
                    trees.setdefault("disk" if word == "io" else word, Tree(2, mount))
    return trees


def block_device(folder, sys_dev="/sys/dev/block"):
    """MAJOR:MINOR of the whole disk under this folder (limits are for whole disks), or None if it is on no block device."""
    device = os.stat(folder).st_dev
    link = os.path.join(sys_dev, f"{os.major(device)}:{os.minor(device)}")
    if not os.path.exists(link):
        return None
    if not os.path.exists(os.path.join(link, "partition")):
        return f"{os.major(device)}:{os.minor(device)}"
    with open(os.path.join(os.path.realpath(link), "..", "dev"), encoding="ascii") as file:
        return file.read().strip()


def _cpu(tree, cores):
    period = max(PERIOD_US, round(MIN_QUOTA_US / cores))
    quota = max(MIN_QUOTA_US, round(cores * period))
    if tree.version == 2:
        return [Setting(tree, "cpu", "cpu.max", f"{quota} {period}", must=True)]
    return [Setting(tree, "cpu", "cpu.cfs_period_us", str(period), must=True),
            Setting(tree, "cpu", "cpu.cfs_quota_us", str(quota), must=True)]


def _memory(tree, limit):
    """Also forbids swap, which would be another disk."""
    if tree.version == 2:
        return [Setting(tree, "memory", "memory.max", str(limit)),
                Setting(tree, "memory", "memory.swap.max", "0", if_present=True)]
    return [Setting(tree, "memory", "memory.limit_in_bytes", str(limit)),
            Setting(tree, "memory", "memory.memsw.limit_in_bytes", str(limit), if_present=True)]


def _disk(tree, device, read, write):
    if tree.version == 2:
        rates = [f"rbps={read}"] * bool(read) + [f"wbps={write}"] * bool(write)
        return [Setting(tree, "disk", "io.max", " ".join([device, *rates]))]
    rates = {"read": read, "write": write}
    return [Setting(tree, "disk", f"blkio.throttle.{way}_bps_device", f"{device} {rate}")
            for way, rate in rates.items() if rate]


def settings(host, trees, device):
    """The settings of the host, and notes on limits that are left out. Throws: LabError if there is no cpu controller."""
    wanted, notes = [], []
    if host.cpu is not None:
        if "cpu" not in trees:
            raise LabError("this kernel offers no cpu controller for control groups; --burners does without")
        wanted += _cpu(trees["cpu"], host.cpu)
    if host.memory is not None:
        if "memory" in trees:
            wanted += _memory(trees["memory"], host.memory)
        else:
            notes.append("memory: left out, this kernel offers no memory controller")
    if host.disk_read or host.disk_write:
        if "disk" not in trees:
            notes.append("disk_read, disk_write: left out, this kernel offers no io controller")
        elif device is None:
            notes.append("disk_read, disk_write: left out, the hosts' disks are on no block device")
        else:
            wanted += _disk(trees["disk"], device, host.disk_read, host.disk_write)
            if trees["disk"].version == 1:
                notes.append("disk_read, disk_write: version 1 of control groups limits direct I/O only")
    return wanted, notes


def _write(path, value):
    with open(path, "w", encoding="ascii") as file:
        file.write(value)


def _make_group(tree, controller, lab, host):
    """Makes MOUNT/LAB/HOST. In version 2 every folder above must delegate the controller. If MOUNT did not, it does so from
    now on, because other programs may rely on it later."""
    top = os.path.join(tree.mount, lab)
    word = DISK_CONTROLLER[tree.version] if controller == "disk" else controller
    for folder in (tree.mount, top):
        os.makedirs(folder, exist_ok=True)
        if tree.version == 2:
            control = os.path.join(folder, "cgroup.subtree_control")
            with open(control, encoding="ascii") as file:
                given = file.read().split()
            if word not in given:
                _write(control, f"+{word}")
    group = os.path.join(top, host)
    os.makedirs(group, exist_ok=True)
    return group


def apply(lab, host, wanted):
    """Makes the groups of the host. Returns their folders and notes. Throws: LabError if a required setting fails."""
    groups, notes = [], []
    for one in wanted:
        try:
            group = _make_group(one.tree, one.controller, lab, host)
            path = os.path.join(group, one.file)
            if group not in groups:
                groups.append(group)
            if not one.if_present or os.path.exists(path):
                _write(path, one.value)
        except OSError as error:
            message = f"cannot write '{one.value}' to {one.file} of {one.tree.mount}/{lab}/{host}: {reason(error)}"
            if one.must:
                raise LabError(f"{message}; --burners does without control groups") from error
            notes.append(f"{one.controller}: left out, {message}")
    return groups, notes


def prefer(lab, trees):
    """Raises the weight of the hosts, so that they get their quotas even while the machine has other work. By default all
    hosts together would weigh as much as one process."""
    if "cpu" in trees:
        file, value = PREFERENCE[trees["cpu"].version]
        with contextlib.suppress(OSError):
            _write(os.path.join(trees["cpu"].mount, lab, file), value)


def lab_groups(lab, trees):
    """All existing groups of this lab, those of hosts first."""
    groups = []
    for mount in sorted({tree.mount for tree in trees.values()}):
        top = os.path.join(mount, lab)
        if os.path.isdir(top):
            groups += sorted(entry.path for entry in os.scandir(top) if entry.is_dir(follow_symlinks=False))
            groups.append(top)
    return groups


def members(group):
    """Process numbers in a group."""
    try:
        with open(os.path.join(group, "cgroup.procs"), encoding="ascii") as file:
            return {int(word) for word in file.read().split()}
    except OSError:
        return set()
