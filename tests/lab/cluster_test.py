# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""bench/lab/cluster.py, for which hetsort reads the file."""
import os
import unittest
from unittest import mock

from support import TOP, TWO_HOSTS
from lab import cluster
from lab.system import LabError


class Cluster(unittest.TestCase):
    def refusal(self, text):
        with self.assertRaises(LabError) as caught:
            cluster.parse(text, "c.toml")
        return str(caught.exception)

    def test_every_field_is_read(self):
        text = """
            [[node]]
            name = "a"
            speed = 2.0
            root = true
            cpu = 0.5
            memory = "512MiB"
            disk_read = "100MB/s"
            disk_write = 1048576
            bandwidth = "800mbit"
            latency = "2ms"
            [[node]]
            speed = 1
            """
        first, second = cluster.parse(text, "c.toml")
        self.assertEqual(first, cluster.Host("a", 0.5, 512 << 20, 100_000_000, 1 << 20, 100e6, 0.002))
        self.assertEqual(second, cluster.Host("host1"))

    def test_what_calibrate_writes_before_all_nodes_is_taken(self):
        self.assertEqual(cluster.parse("start = 0.02\n[[node]]\nname = 'a'\nspeed = 1\n", "c"), [cluster.Host("a")])

    def test_alike_nodes_get_numbers(self):
        hosts = cluster.parse("[[node]]\nname = 'w'\ncount = 2\ncpu = 0.1\nspeed = 1\n[[node]]\nspeed = 1\n", "c")
        self.assertEqual([host.name for host in hosts], ["w-0", "w-1", "host2"])

    def test_what_hetsort_refuses_is_named_with_its_place(self):
        self.assertRegex(self.refusal("[[node]]\nspeed = 1\n\n[[node]]\ncpus = 1\n"), r"^c.toml:5:\d+: unknown field 'cpus'")
        self.assertRegex(self.refusal("[[node]]\ncpu = = 1\n"), "^c.toml:2:7: ")
        self.assertRegex(self.refusal(""), "^c.toml: ")
        for cpu in ("0", "-1", "nan", "inf"):
            self.assertRegex(self.refusal(f"[[node]]\nspeed = 1\ncpu = {cpu}"), r"^c.toml:3:\d+: cpu must be a finite number above")

    def test_what_only_a_lab_refuses(self):
        for text, words in (("cpu = 0.001", "host 'host0': cpu is below 0.01 of a core"), ("memory = '1MiB'", "below 16 MiB"),
                            ("count = 65", "more than 64"),
                            ("name = 'a.b'", "host 'a.b': a host's name has"), ("name = '../x'", "a host's name has"),
                            ("name = '_switch'", "a host's name has"), ("name = 'by-rank'", "folder beside the hosts' disks"),
                            ("name = 'a-0'\n[[node]]\nname = 'a'\nspeed = 1\ncount = 2", "a second host has this name")):
            self.assertIn(words, self.refusal("[[node]]\nspeed = 1\n" + text))
        with self.assertRaisesRegex(LabError, "cannot read /nowhere"):
            cluster.read("/nowhere")

    def test_limits_are_read_as_in_the_file(self):
        self.assertEqual(cluster.parse_limits({"cpu": 0.25, "bandwidth": "2.5kbit"}), {"cpu": 0.25, "bandwidth": 312.5})
        for limits, words in (({"cpu": float("nan")}, "^cpu must be a finite"), ({"cpu": 0.001}, "^cpu is below 0.01"),
                              ({"bandwidth": "fast"}, "^bandwidth 'fast' is not"), ({"bandwidth": "1mbit'\n\"cpu = 2"}, "bandwidth")):
            with self.assertRaisesRegex(LabError, words):
                cluster.parse_limits(limits)

    def test_a_program_that_is_missing_is_named(self):
        with mock.patch.object(cluster, "PROGRAM", "/nowhere/hetsort"), self.assertRaisesRegex(LabError, "cannot start /nowhere/hetsort"):
            cluster.parse(TWO_HOSTS, "c")

    def test_more_hosts_than_cores_are_fiction(self):
        hosts = cluster.parse(TWO_HOSTS, "c")
        self.assertEqual(cluster.fiction(hosts, 1), "")
        self.assertIn("want 1 cores of 1", cluster.fiction([cluster.Host("a", 0.5), cluster.Host("b", 0.5)], 1))
        self.assertIn("b without cpu", cluster.fiction([cluster.Host("a", 0.5), cluster.Host("b")], 2))

    def test_examples_are_read_by_the_lab(self):
        for name, total in (("lab-2006", 1.666), ("lab-2006-gigabit", 1.666), ("lab-1248", 1.8)):
            _, hosts = cluster.read(os.path.join(TOP, "docs", "examples", name + ".toml"))
            self.assertEqual(len(hosts), 4)
            self.assertAlmostEqual(sum(host.cpu for host in hosts), total)
        self.assertEqual(len(cluster.read(os.path.join(TOP, "docs", "examples", "grid-2003.toml"))[1]), 16)
