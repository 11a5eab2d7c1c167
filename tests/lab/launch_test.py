# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""What would be run: mpirun, ip and tc, burners, the agent's refusals. Nothing is set up here."""
import contextlib
import glob
import io
import os
import subprocess
import tempfile
import threading
import unittest
import warnings
from unittest import mock

import support  # noqa: F401 (sets the path)
from lab import burners, change, cores, launch, main, network, outside, place, probe, processors, tables
from lab.cluster import Host
from lab.system import LabError

TESTS = os.path.dirname(os.path.abspath(__file__))
PLACE = place.Place("l", "/run/l", "/var/tmp/l")


def state(mode):
    return {"mode": mode, "folder": "/run/l", "burners": [],
            "hosts": [{"name": "a", "address": "10.77.0.1"}, {"name": "b", "address": "10.77.0.2"}]}


class Launch(unittest.TestCase):
    def test_mpirun_goes_over_the_lab_alone(self):
        line = launch.command_line(state("hosts"), ["x", "a b"])
        text = " ".join(line)
        self.assertEqual(line[:3], ["mpirun", "-np", "2"])
        self.assertEqual(line[-2:], ["x", "a b"])
        self.assertTrue(os.access(launch.AGENT, os.X_OK))
        for part in ("-H 10.77.0.1:1,10.77.0.2:1", f"--mca plm_rsh_agent {launch.AGENT}", "--mca btl tcp,self",
                     "--mca btl_tcp_if_include 10.77.0.0/16", "--mca oob_tcp_if_include 10.77.0.0/16", "--bind-to none",
                     "--mca orte_tmpdir_base /run/l"):
            self.assertIn(part, text)
        self.assertEqual(launch.in_host(state("hosts"), state("hosts")["hosts"][1], ["x", "a b"]),
                         [launch.AGENT, "10.77.0.2", "x 'a b'"])
        environment = launch.environment(state("hosts"))
        self.assertEqual(environment["OMPI_ALLOW_RUN_AS_ROOT"] + environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"], "11")
        self.assertEqual(environment["HETSORT_LAB_STATE"], "/run/l")

    def test_runs_that_overlap_link_their_disks(self):
        with tempfile.TemporaryDirectory() as folder:
            lab = {**state("hosts"), "disks": folder}
            runs = [threading.Thread(target=lambda place=place: [launch.link_disks(lab, [place]) for _ in range(200)])
                    for place in (0, 1)]
            failures = []
            with mock.patch("threading.excepthook", failures.append):
                for run in runs:
                    run.start()
                for run in runs:
                    run.join()
            self.assertEqual(failures, [])
            self.assertIn(os.readlink(os.path.join(folder, "by-rank", "0")), ("../a", "../b"))

    def test_threads_outside_the_quotas_need_quotas(self):
        with self.assertRaisesRegex(LabError, "run: --outside: quotas by version 1"):
            outside.Outside(PLACE, state("burners"), "x")

    def test_burners_run_on_this_host(self):
        line = launch.command_line(state("burners"), ["x"])
        self.assertEqual(line[-4:], [launch.AGENT, "--rank", "0,1", "x"])
        self.assertIn("--host localhost:2", " ".join(line))
        self.assertNotIn("plm_rsh_agent", line)

    def test_hosts_may_have_several_ranks_in_any_order(self):
        self.assertEqual(launch.places_of(state("hosts"), ["a", "b", "b"]), [0, 1, 1])
        line = " ".join(launch.command_line(state("hosts"), ["x"], [1, 1, 1, 0]))
        self.assertIn("mpirun -np 4 ", line)
        self.assertIn("-H 10.77.0.2:3,10.77.0.1:1", line)
        line = launch.command_line(state("burners"), ["x"], [0, 0, 1])
        self.assertEqual(line[-4:], [launch.AGENT, "--rank", "0,0,1", "x"])
        with self.assertRaisesRegex(LabError, "no host 'c'; it has a, b"):
            launch.places_of(state("hosts"), ["a", "c"])

    def test_changes_are_read(self):
        self.assertEqual(change.parse(["cpu=0.25", "bandwidth=80mbit"]), {"cpu": 0.25, "bandwidth": 10e6})
        for word in ("cpu", "cpu=", "cpu=x", "cpu=0", "cpu=nan", "cpu=0.001", "memory=1G", "bandwidth=fast"):
            with self.subTest(word=word), self.assertRaisesRegex(LabError, "^set: "):
                change.parse([word])
        host = Host("a", bandwidth=100e6)
        self.assertIn("qdisc change dev eth0 root tbf rate 100000000bps",
                      " ".join(network.bandwidth_commands(PLACE, host, 3, False, "change")[0]))

    def test_hetsort_is_this_trees_build(self):
        with mock.patch("os.access", return_value=True):
            self.assertEqual(launch.resolved(["hetsort", "x"]), [os.path.join(launch.BUILD, "hetsort"), "x"])
        with mock.patch("os.access", return_value=False), self.assertRaisesRegex(LabError, "not built; './dev build'"):
            launch.resolved(["hetsort"])
        self.assertEqual(launch.resolved(["true"]), ["true"])
        with self.assertRaisesRegex(LabError, "which command"):
            launch.resolved([])
        with self.assertRaisesRegex(LabError, "'--burners' is no command; options go before FILE"):
            launch.resolved(["--burners", "hetsort"])

    def test_ranks_of_a_host_that_are_no_neighbours_are_refused_where_mpirun_would_move_them(self):
        hosts = [{"name": name, "address": name} for name in ("a", "b")]
        for mode, fits in (("hosts", False), ("burners", True)):
            state = {"mode": mode, "folder": "/f", "hosts": hosts}
            self.assertIn("-np", launch.command_line(state, ["x"], [1, 1, 0]))
            with contextlib.nullcontext() if fits else self.assertRaisesRegex(LabError, "must be neighbours"):
                launch.command_line(state, ["x"], [0, 1, 0])

    def test_the_network_is_built_and_shaped_both_ways(self):
        host = Host("a", bandwidth=100e6, latency=0.002)
        self.assertIn("10.77.0.4/16", " ".join(network.host_commands(PLACE, host, 3)[3]))
        self.assertEqual(network.address(400), "10.77.2.1")
        lines = [" ".join(line) for line in network.bandwidth_commands(PLACE, host, 3, False)]
        self.assertEqual(lines[0], "tc -n l.a qdisc add dev eth0 root tbf rate 100000000bps burst 100000 latency 50ms")
        self.assertIn("tc -n l._switch qdisc add dev port3 root tbf", lines[1])
        self.assertIn("parent 1:1 tbf", " ".join(network.bandwidth_commands(PLACE, host, 3, True)[0]))
        self.assertIn("netem delay 2000us", " ".join(network.latency_commands(PLACE, host, 3)[0]))

    def test_labs_do_not_own_each_others_namespaces(self):
        self.assertTrue(PLACE.owns(PLACE.namespace("a")) and PLACE.owns(PLACE.switch))
        self.assertFalse(PLACE.owns("l-test.a") or PLACE.owns("l"))
        for name in ("a.b", "../x", "A", "-a", "a" * 41):
            with self.subTest(name=name), self.assertRaises(LabError):
                place.place_from({"HETSORT_LAB_NAME": name}, 0)
        self.assertEqual(place.place_from({}, 0),
                         place.Place("hetsort-lab", "/run/hetsort-lab", "/var/tmp/hetsort-lab"))
        self.assertEqual(place.place_from({}, 5).state, "/tmp/hetsort-lab-5")
        # Nor do those of different users.
        self.assertFalse(place.place_from({}, 5).owns(place.place_from({}, 0).namespace("a")))
        self.assertNotEqual(place.place_from({}, 5).name, place.place_from({}, 0).name)

    def test_parts_of_burners_are_near_the_wishes(self):
        wishes = [0.5, 0.5, 0.333, 0.333]
        arranged = burners.arrange(wishes, [0, 1])
        for seats in arranged.values():
            self.assertAlmostEqual(sum(seat.part for seat in seats), 1)
            for seat in seats:
                if seat.host is not None:
                    self.assertAlmostEqual(seat.part / wishes[seat.host], 1, delta=0.12)
        self.assertEqual(sum(seat.host is None for seats in arranged.values() for seat in seats), 2)
        alone = burners.arrange([None, 3], [0, 1, 2])
        self.assertEqual([[seat.part for seat in seats] for seats in alone.values()], [[1], [1], []])
        crowded = burners.arrange([1, 0.01], [0], base_nice=10)[0]
        self.assertLessEqual(max(seat.nice for seat in crowded), 9)

    def test_hosts_of_a_core_at_most_get_one_each_if_all_fit(self):
        self.assertEqual(cores.seats([0.5, 0.5, 0.333, 0.333], [0, 1]), [0, 1, 0, 1])
        self.assertEqual(cores.seats([0.1, 0.1, 0.1, 1.0], [4, 7]), [7, 7, 7, 4])
        self.assertEqual(cores.seats([0.7, 0.2, 0.1], [3]), [3, 3, 3])
        for cpus, machine in (([0.6, 0.6, 0.6], [0, 1]), ([1.5, 0.1], [0, 1]), ([0.5, None], [0, 1]), ([0.7, 0.7], [0])):
            with self.subTest(cpus=cpus):
                self.assertEqual(cores.seats(cpus, machine), [None] * len(cpus))

    def test_an_overcommitted_core_is_reported(self):
        hosts = [{"name": name, "cpu": cpu, "core": core} for name, cpu, core in
                 (("a", 0.5, 0), ("b", 0.5, 0), ("c", 0.9, 1), ("d", 5, None))]
        self.assertEqual(cores.crowded(hosts), "")
        hosts[1]["cpu"] = 0.6
        self.assertRegex(cores.crowded(hosts), "^the speeds are fiction: a, b want 1.1 of core 0; ")
        self.assertEqual(cores.crowded([{"name": "a", "cpu": 2}]), "")

    def test_without_root_it_says_burners(self):
        said = io.StringIO()
        with mock.patch("os.geteuid", return_value=1000), contextlib.redirect_stderr(said):
            self.assertEqual(main.mode(False), "burners")
        self.assertIn("not root, therefore no namespaces and control groups", said.getvalue())
        with mock.patch("os.geteuid", return_value=0):
            self.assertEqual(main.mode(False), "hosts")

    def test_the_agent_refuses_what_it_does_not_know(self):
        for environment, words, message in (({}, ["a", "true"], "HETSORT_LAB_STATE is not set"),
                                            ({"HETSORT_LAB_STATE": "/nowhere"}, ["a", "true"], "has no host 'a'"),
                                            ({"HETSORT_LAB_STATE": "/"}, ["../etc/passwd", "true"], "has no host"),
                                            ({"HETSORT_LAB_STATE": "/nowhere"}, ["a"], "usage: agent")):
            done = subprocess.run([launch.AGENT, *words], env={"PATH": os.environ["PATH"], **environment}, text=True,
                                  capture_output=True, timeout=20, check=False)
            self.assertEqual(done.returncode, 255)
            self.assertIn(message, done.stderr)

    def test_every_source_compiles_without_warnings(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for path in [*glob.glob(launch.FOLDER + "/*.py"), launch.FOLDER + "/lab", *glob.glob(TESTS + "/*.py")]:
                with open(path, encoding="utf-8") as file:
                    compile(file.read(), path, "exec")

    def test_a_core_is_slower_only_beyond_what_it_varies_by(self):
        wild, slow = [2500, 4900, 3000, 4700, 2600, 3500, 4800, 2700, 4600, 3700], [1000, 1010, 990, 1000, 1005, 995]
        self.assertEqual(probe.core_speeds([wild, [1.2 * rate for rate in wild], wild[:5]]), [1, 1, 1])
        self.assertEqual([round(speed, 2) for speed in probe.core_speeds([[2 * rate for rate in slow], slow, slow])],
                         [1.5, 0.75, 0.75])
        self.assertEqual(probe.core_speeds([[1000], slow]), [1, 1])

    def test_a_probe_whose_processors_were_stolen_is_made_again(self):
        for stolen, made, chosen in (([0.02], 1, 0), ([0.6, 0.3, 0.1], 3, 2), ([0.6, 0.3, 0.7, 0.4, 0.1], 4, 1)):
            with self.subTest(stolen=stolen):
                probes = mock.Mock(side_effect=range(5))
                accounts = mock.Mock(**{"return_value.spent.return_value.stolen_part.side_effect": stolen})
                with mock.patch.object(probe, "_measure_once", probes), mock.patch.object(processors, "Account", accounts), \
                        contextlib.redirect_stderr(io.StringIO()) as said:
                    self.assertEqual(probe.measure({}), chosen)
                self.assertEqual((probes.call_count, "steal time is 30% of the processors" in said.getvalue()), (made, made == 4))

    def test_tables_hold_nominal_and_measured(self):
        host = {**Host("a", cpu=0.5, bandwidth=100e6).__dict__, "address": "10.77.0.1"}
        lines = tables.nominal([host]).splitlines()
        self.assertEqual(lines[1].split(), ["a", "10.77.0.1", "0.500", "-", "-", "-", "800", "mbit", "-"])
        got = {"cpu": 0.49, "disk_read": 1e8, "disk_write": 2e8, "bandwidth": 95e6, "latency": 1e-4}
        row = tables.compared([host], [got]).splitlines()[2]
        self.assertEqual(" ".join(row.split()), "a 0.500 0.490 - 100 MB/s - 200 MB/s 800 mbit 760 mbit - 0.1 ms")
        self.assertEqual(tables.speeds([got, got]), "0.490,0.490")
