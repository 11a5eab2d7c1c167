# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""bench/lab/cgroups.py, on folders that look like the kernel's."""
import os
import tempfile
import unittest

import support  # noqa: F401 (sets the path)
from lab import cgroups
from lab.cluster import Host
from lab.system import LabError

FULL = Host("a", cpu=0.333, memory=1 << 28, disk_read=50, disk_write=60)


class Cgroups(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = scratch.name

    def version_1(self, *controllers):
        for name in controllers:
            os.makedirs(f"{self.root}/{name}", exist_ok=True)
        return "".join(f"cgroup {self.root}/{name} cgroup rw,relatime,{name} 0 0\n" for name in controllers)

    def version_2(self, controllers, given="", folder="unified"):
        path = f"{self.root}/{folder}"
        os.makedirs(path)
        for name, text in (("cgroup.controllers", controllers), ("cgroup.subtree_control", given)):
            self.fill(f"{path}/{name}", text)
        return f"cgroup2 {path} cgroup2 rw,nosuid 0 0\n"

    @staticmethod
    def fill(path, text):
        with open(path, "w", encoding="ascii") as file:
            file.write(text)

    @staticmethod
    def text(path):
        with open(path, encoding="ascii") as file:
            return file.read()

    def values(self, trees, host=FULL, device="8:0"):
        return {one.file: one.value for one in cgroups.settings(host, trees, device)[0]}

    def test_both_versions_are_found(self):
        trees = cgroups.find_trees("/dev/sda / ext4 rw 0 0\n" + self.version_1("memory", "blkio") +
                                   f"cgroup {self.root}/x\\040y cgroup rw,cpu,cpuacct 0 0\n" + self.version_2(""))
        self.assertEqual(trees["cpu"], cgroups.Tree(1, f"{self.root}/x y"))
        self.assertEqual(trees["disk"], cgroups.Tree(1, f"{self.root}/blkio"))
        trees = cgroups.find_trees(self.version_2("cpuset cpu io memory pids", folder="two"))
        self.assertEqual(set(trees), {"cpu", "disk", "memory"})
        self.assertEqual({tree.version for tree in trees.values()}, {2})
        self.assertEqual(cgroups.find_trees(""), {})

    def test_version_1_settings(self):
        trees = cgroups.find_trees(self.version_1("cpu", "memory", "blkio"))
        self.assertEqual(self.values(trees), {
            "cpu.cfs_period_us": "10000", "cpu.cfs_quota_us": "3330", "memory.limit_in_bytes": "268435456",
            "memory.memsw.limit_in_bytes": "268435456", "blkio.throttle.read_bps_device": "8:0 50",
            "blkio.throttle.write_bps_device": "8:0 60"})
        self.assertIn("direct I/O only", cgroups.settings(FULL, trees, "8:0")[1][0])

    def test_version_2_settings(self):
        trees = cgroups.find_trees(self.version_2("cpu io memory"))
        self.assertEqual(self.values(trees), {"cpu.max": "3330 10000", "memory.max": "268435456",
                                              "memory.swap.max": "0", "io.max": "8:0 rbps=50 wbps=60"})
        self.assertEqual(self.values(trees, Host("a", disk_write=60)), {"io.max": "8:0 wbps=60"})
        self.assertEqual(self.values(trees, Host("a")), {})

    def test_hybrid_machines_use_both(self):
        trees = cgroups.find_trees(self.version_1("cpu") + self.version_2("cpu memory io"))
        self.assertEqual({name: tree.version for name, tree in trees.items()}, {"cpu": 1, "memory": 2, "disk": 2})

    def test_slow_hosts_get_a_longer_period(self):
        trees = cgroups.find_trees(self.version_2("cpu"))
        for cores, value in ((0.1, "1000 10000"), (0.05, "1000 20000"), (0.01, "1000 100000"), (3, "30000 10000")):
            self.assertEqual(self.values(trees, Host("a", cpu=cores)), {"cpu.max": value})

    def test_groups_are_made_and_filled(self):
        trees = cgroups.find_trees(self.version_1("cpu", "memory", "blkio"))
        groups, notes = cgroups.apply("l", "a", cgroups.settings(FULL, trees, "8:0")[0])
        self.assertEqual(groups, [f"{self.root}/{name}/l/a" for name in ("cpu", "memory", "blkio")])
        self.assertEqual(notes, [])
        self.assertEqual(self.text(f"{self.root}/cpu/l/a/cpu.cfs_quota_us"), "3330")
        # Not every kernel has this file.
        self.assertFalse(os.path.exists(f"{self.root}/memory/l/a/memory.memsw.limit_in_bytes"))
        self.assertEqual(cgroups.lab_groups("l", trees),
                         [f"{self.root}/{name}/{path}" for name in ("blkio", "cpu", "memory") for path in ("l/a", "l")])
        self.assertEqual(cgroups.lab_groups("other", trees), [])

    def test_version_2_hands_controllers_down(self):
        trees = cgroups.find_trees(self.version_2("cpu memory io", given="cpu"))
        top = f"{self.root}/unified"
        os.mkdir(f"{top}/l")
        self.fill(f"{top}/l/cgroup.subtree_control", "")
        groups, _ = cgroups.apply("l", "a", cgroups.settings(Host("a", cpu=0.5), trees, None)[0])
        self.assertEqual(groups, [f"{top}/l/a"])
        self.assertEqual(self.text(f"{top}/cgroup.subtree_control"), "cpu")  # was there: not written
        self.assertEqual(self.text(f"{top}/l/cgroup.subtree_control"), "+cpu")
        self.assertEqual(self.text(f"{top}/l/a/cpu.max"), "5000 10000")

    def test_what_is_missing_is_noted_or_refused(self):
        with self.assertRaisesRegex(LabError, "no cpu controller.*--burners"):
            cgroups.settings(FULL, {}, "8:0")
        trees = cgroups.find_trees(self.version_1("cpu"))
        self.assertEqual([note.split(":")[0] for note in cgroups.settings(FULL, trees, "8:0")[1]],
                         ["memory", "disk_read, disk_write"])
        trees = cgroups.find_trees(self.version_1("cpu", "blkio"))
        self.assertIn("no block device", cgroups.settings(Host("a", disk_read=1), trees, None)[1][0])
        self.fill(f"{self.root}/blkio/l", "")  # a file in place of the folder: not even root can write there
        self.fill(f"{self.root}/cpu/l", "")
        groups, notes = cgroups.apply("l", "a", cgroups.settings(Host("a", disk_read=1), trees, "8:0")[0])
        self.assertEqual(groups, [])
        self.assertIn("disk: left out, cannot write '8:0 1' to blkio.throttle.read_bps_device", notes[0])
        with self.assertRaisesRegex(LabError, "cannot write '10000' to cpu.cfs_period_us"):
            cgroups.apply("l", "a", cgroups.settings(Host("a", cpu=1), trees, "8:0")[0])

    def test_a_partition_is_throttled_at_its_disk(self):
        device = os.stat(self.root).st_dev
        number = f"{os.major(device)}:{os.minor(device)}"
        folder = f"{self.root}/block"
        self.assertIsNone(cgroups.block_device(self.root, folder))
        os.makedirs(f"{folder}/sda/sda1")
        self.fill(f"{folder}/sda/dev", "8:0\n")
        os.symlink(f"{folder}/sda/sda1", f"{folder}/{number}")
        self.assertEqual(cgroups.block_device(self.root, folder), number)
        self.fill(f"{folder}/sda/sda1/partition", "1\n")
        self.assertEqual(cgroups.block_device(self.root, folder), "8:0")
