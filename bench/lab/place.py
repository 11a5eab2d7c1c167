# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Names and folders of a lab. All of them follow from the lab's name, so that `down` finds them without records.

The lab's name is HETSORT_LAB_NAME, by default hetsort-lab. Labs with different names are independent.
"""
import contextlib
import dataclasses
import fcntl
import json
import os
import re
import shutil
import stat

from .system import LabError, reason

MARKER = ".hetsort-lab"  # marks the folders that `down` may remove


@dataclasses.dataclass(frozen=True)
class Place:
    name: str
    state: str  # folder of lab.json and of one file per host for the agent
    disks: str  # folder with one folder per host

    def namespace(self, host):
        """Names of hosts and labs have no dot, so that namespaces of two labs cannot be confused."""
        return f"{self.name}.{host}"

    @property
    def switch(self):
        return f"{self.name}._switch"  # not a valid host name

    def owns(self, namespace):
        return namespace.startswith(self.name + ".")

    def disk(self, host):
        return os.path.join(self.disks, host)

    def host_file(self, address):
        return os.path.join(self.state, "hosts", address)


def place_from(environment, user):
    """Labs of different users are independent. Root keeps state in /run, others in their runtime folder. HETSORT_LAB_DISKS
    is the folder for the hosts' disks."""
    name = environment.get("HETSORT_LAB_NAME") or "hetsort-lab"
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,39}", name):
        raise LabError(f"HETSORT_LAB_NAME '{name}' is not 1 to 40 small letters, digits and '-'")
    name += "" if user == 0 else f"-{user}"
    runtime = "/run" if user == 0 else environment.get("XDG_RUNTIME_DIR") or "/tmp"
    disks = environment.get("HETSORT_LAB_DISKS") or "/var/tmp"
    return Place(name, os.path.join(runtime, name), os.path.join(os.path.abspath(disks), name))


def make_folder(path):
    """Makes a folder of the lab, or accepts one that an earlier call made. Throws: LabError if another one has its name."""
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, 0o700)
            with open(os.path.join(path, MARKER), "x", encoding="ascii"):
                pass
        found = os.lstat(path)
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or \
                not os.path.exists(os.path.join(path, MARKER)):
            raise LabError(f"{path} exists and does not belong to a lab: move it away, or choose another HETSORT_LAB_NAME")
    except OSError as error:
        raise LabError(f"cannot make the folder {path}: {reason(error)}") from error


def remove_folder(path):
    """Removes a folder that make_folder made, and no other. Returns what is left and why, or ""."""
    try:
        if not stat.S_ISDIR(os.lstat(path).st_mode) or (os.listdir(path) and
                                                        not os.path.exists(os.path.join(path, MARKER))):
            return f"{path} does not belong to a lab and was not removed"
        # The marker is removed last, so that an interrupted removal can be repeated.
        for entry in os.scandir(path):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            elif entry.name != MARKER:
                os.unlink(entry.path)
        shutil.rmtree(path)
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"cannot remove {error.filename or path}: {reason(error)}"
    return ""


def write_state(place, state):
    path = os.path.join(place.state, "lab.json")
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(state, file, indent=1)
    os.replace(path + ".new", path)


def read_state(place):
    """The state that `up` wrote, or None if there is no lab or its state is unreadable (then the lab is incomplete)."""
    try:
        with open(os.path.join(place.state, "lab.json"), encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


@contextlib.contextmanager
def locked(place):
    """Only one `up` or `down` runs at a time. The lock's file is removed at the end. The system frees the lock if its holder
    dies."""
    path = place.state + ".lock"
    try:
        while True:
            lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(lock), os.stat(path)):
                    break
            os.close(lock)  # the last holder has removed it meanwhile
    except OSError as error:
        raise LabError(f"cannot lock {path}: {reason(error)}") from error
    try:
        yield
    finally:
        os.unlink(path)
        os.close(lock)
