# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""bench/lab/cluster.py and quantity.py."""
import os
import unittest

from support import TOP, TWO_HOSTS
from lab import cluster, quantity
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
            compute = { kind = "linear", per_record = 1 }
            receive = { kind = "linear", per_record = 1 }
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
        self.assertEqual(cluster.parse("start = 0.02\n[[node]]\nname = 'a'\n", "c"), [cluster.Host("a")])
        self.assertEqual(self.refusal("stat = 0.02\n[[node]]\n"), "c.toml:1: unknown field 'stat'; the nearest is 'start'")

    def test_alike_nodes_get_numbers(self):
        hosts = cluster.parse("[[node]]\nname = 'w'\ncount = 2\ncpu = 0.1\n[[node]]\n", "c")
        self.assertEqual([host.name for host in hosts], ["w-0", "w-1", "host2"])

    def test_unknown_fields_are_named_with_line_and_nearest(self):
        self.assertEqual(self.refusal("[[node]]\ncpu = 1\n\n[[node]]\ncpus = 1\n"),
                         "c.toml:5: unknown field 'cpus'; the nearest is 'cpu'")
        self.assertEqual(self.refusal("# c\n[[nodes]]\ncpu = 1\n"),
                         "c.toml:2: unknown field 'nodes'; the nearest is 'node'")
        self.assertIn("at line 2, column 7", self.refusal("[[node]]\ncpu = = 1\n"))

    def test_what_makes_no_sense_is_refused(self):
        self.assertEqual(self.refusal(""), "c.toml: there is no [[node]]")
        self.assertIn("must be a list of tables", self.refusal("node = 3"))
        for cpu in ("0", "0.0", "-1", "nan", "inf", "-inf"):
            self.assertIn("c.toml:2: cpu must be a finite number above zero", self.refusal(f"[[node]]\ncpu = {cpu}"))
        for text, words in (("cpu = 'half'", "c.toml:2: cpu must be a number"), ("cpu = true", "must be a number"),
                            ("cpu = 0.001", "below 0.01 of a core"), ("memory = 'lots'", "memory 'lots' is not a size"),
                            ("memory = '1MiB'", "below 16 MiB"), ("bandwidth = '0mbit'", "above zero"),
                            ("bandwidth = 'fast'", "c.toml:2: bandwidth 'fast' is not a"),
                            ("disk_read = '0'", "above zero"), ("latency = 5", "is not a time"),
                            ("count = 0", "at least 1"), ("count = true", "whole number"),
                            ("count = 65", "more than 64"), ("count = " + "9" * 5000, "c.toml: "),
                            ("name = 'a.b'", "no host name"), ("name = '../x'", "no host name"),
                            ("name = '_switch'", "no host name"), ("name = 'by-rank'", "folder beside the hosts' disks"), ("name = ''", "no host name"),
                            ("name = 'a'\n[[node]]\nname = 'a'", "c.toml:4: two hosts are named 'a'")):
            self.assertIn(words, self.refusal("[[node]]\n" + text))
        with self.assertRaisesRegex(LabError, "cannot read /nowhere"):
            cluster.read("/nowhere")

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

    def test_sizes_rates_and_times_are_those_of_the_planner(self):
        self.assertEqual([quantity.parse_bytes(text) for text in ("64K", "64KB", "1.5 G", "12B", 7, "2TiB")],
                         [65536, 64000, 3 << 29, 12, 7, 2 << 40])
        self.assertEqual([quantity.parse_link(text) for text in ("800mbit", "2.5kbit", "100MB/s")], [100e6, 312.5, 1e8])
        self.assertEqual([quantity.parse_seconds(text) for text in ("200us", "0s")], [200e-6, 0])
        for parse, bad in ((quantity.parse_bytes, ("", "K", "-5", "1X", "1KK", "1 2", "nan", "0x10", "9P9", "9" * 400, True)),
                           (quantity.parse_rate, ("0", "5MB/h")), (quantity.parse_link, ("mbit", "1 mbit", "1xbit", "9" * 400 + "gbit", "9" * 305 + "gbit")),
                           (quantity.parse_seconds, ("5", "ms", "-1ms", "1h", "9" * 400 + "s")),
                           (quantity.parse_cores, (0, -1, float("nan"), float("inf"), 10**400, True, "1"))):
            for text in bad:
                with self.subTest(text=text), self.assertRaises(ValueError):
                    parse(text)
