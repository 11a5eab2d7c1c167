# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Labs of true hosts: as root, where the kernel allows it. Nothing here is timed."""
import os
import shutil
import signal
import subprocess
import time
import unittest

from support import TWO_HOSTS, LabCase

LIMITED = """
[[node]]
name = "big"
speed = 2
cpu = 0.5
memory = "256MiB"
disk_write = "50MB/s"
bandwidth = "400mbit"
[[node]]
name = "small"
speed = 1
cpu = 0.25
"""


class Real(LabCase):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("not root")
        missing = [tool for tool in ("ip", "tc", "nsenter", "unshare", "mpirun")
                   if not shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin:/sbin")]
        if missing:
            self.skipTest(f"not installed: {', '.join(missing)}")
        tried = self.call("up", self.file(TWO_HOSTS))
        self.call("down")
        if tried.returncode and "--burners does without" in tried.stderr:
            self.skipTest("this kernel makes no hosts: " + tried.stderr.strip())
        self.assertEqual(tried.returncode, 0, tried.stderr)

    @staticmethod
    def text(path):
        with open(path, encoding="utf-8") as file:
            return file.read().strip()

    def groups(self, host):
        return [os.path.join(folder, self.name, host) for folder in
                [os.path.join("/sys/fs/cgroup", name) for name in [".", *sorted(os.listdir("/sys/fs/cgroup"))]]
                if os.path.isdir(os.path.join(folder, self.name, host))]

    def quotas(self, host):
        """Quota and period of each of the host's groups that has them."""
        found = []
        for group in self.groups(host):
            if os.path.exists(f"{group}/cpu.cfs_quota_us"):
                found.append((self.text(f"{group}/cpu.cfs_quota_us"), self.text(f"{group}/cpu.cfs_period_us")))
            if os.path.exists(f"{group}/cpu.max"):
                found.append(tuple(self.text(f"{group}/cpu.max").split()))
        return found

    def shaped(self, host):
        return subprocess.run(["ip", "netns", "exec", f"{self.name}.{host}", "tc", "qdisc", "show", "dev", "eth0"],
                              capture_output=True, text=True, check=True, timeout=20).stdout

    def test_hosts_have_their_quotas_and_down_leaves_nothing(self):
        done = self.succeed("up", self.file(LIMITED))
        for host, quota in (("big", "5000"), ("small", "2500")):
            self.assertEqual(self.quotas(host), [(quota, "10000")])
        if "memory" not in done.stderr:
            limits = [self.text(f"{group}/{name}") for group in self.groups("big")
                      for name in ("memory.limit_in_bytes", "memory.max") if os.path.exists(f"{group}/{name}")]
            self.assertEqual(limits, [str(256 << 20)])
        if "bandwidth" not in done.stderr:
            self.assertRegex(self.shaped("big"), "tbf .*rate 400Mbit")
        self.succeed("down")
        self.assert_nothing_left()

    def test_a_change_reaches_what_runs(self):
        file = self.file(LIMITED)
        noted = self.succeed("up", file).stderr
        process = self._start_sleeping(file)
        for cores, values in (("0.1", ("1000", "10000")), ("0.1", ("1000", "10000")), ("0.05", ("1000", "20000")),
                              ("0.5", ("5000", "10000"))):
            self.succeed("set", file, "big", f"cpu={cores}")
            self.assertEqual(self.quotas("big"), [values])
        self.assertEqual(self.quotas("small"), [("2500", "10000")])
        self.assertEqual(self._sleepers(), 2)
        if "bandwidth" not in noted:
            self.succeed("set", file, "big", "bandwidth=40mbit")
            self.assertRegex(self.shaped("big"), "tbf .*rate 40Mbit")
        self.assertIn("small has no bandwidth in the file", self.refuse("set", file, "small", "bandwidth=1mbit"))
        process.terminate()
        process.wait(timeout=60)
        self.succeed("down")
        self.assert_nothing_left()

    def test_ranks_are_in_their_hosts_groups_and_namespaces(self):
        file = self.file(TWO_HOSTS)
        self.succeed("up", file)
        script = ('echo "$OMPI_COMM_WORLD_RANK $(hostname) $HETSORT_LAB_HOST $HETSORT_LAB_MODE'
                  ' $(stat -Lc %i /proc/self/ns/net)'
                  ' $(grep -cE "/$HETSORT_LAB_NAME/$(hostname)$" /proc/self/cgroup) $(cd "$HETSORT_LAB_DISK" && pwd)"')
        done = self.succeed("run", file, "--", "bash", "-c", script)
        lines = sorted(line.split() for line in done.stdout.splitlines())
        self.assertEqual([line[1:4] for line in lines], [["big", "big", "hosts"], ["small", "small", "hosts"]])
        for line in lines:
            self.assertEqual(int(line[4]), os.stat(f"/run/netns/{self.name}.{line[1]}").st_ino)
            self.assertGreaterEqual(int(line[5]), 1)
            self.assertTrue(line[6].endswith(f"{self.name}/{line[1]}"))
        self.assertNotEqual(os.uname().nodename, "big")

    def test_threads_of_given_names_are_outside_the_quotas(self):
        command = ["sh", "-c", "sleep 20 & for i in $(seq 100); do grep -q _outside /proc/$!/cgroup && break; sleep 0.05; done; "
                               "cat /proc/$!/cgroup /proc/$$/cgroup; kill $!"]
        done = self.call("run", "--outside", "other,sleep", self.file(LIMITED), "--", *command)
        if "--outside: quotas by version 1" in done.stderr:
            self.skipTest(done.stderr.strip())
        self.assertEqual(done.returncode, 0, done.stderr)
        places = [line.rpartition(":")[2] for line in done.stdout.splitlines() if "cpu" in line.split(":")[1].split(",")]
        self.assertEqual(sorted(places), [*2 * [f"/{self.name}/_outside"], f"/{self.name}/big", f"/{self.name}/small"])
        self.assert_nothing_left()

    def test_ranks_stay_on_their_hosts_core(self):
        script = 'echo "$OMPI_COMM_WORLD_RANK $(taskset -cp $$ | sed "s/.*: //")"'
        done = self.succeed("run", self.file(TWO_HOSTS), "--", "bash", "-c", script)
        seats = [line.split()[1] for line in sorted(done.stdout.splitlines())]
        here = sorted(os.sched_getaffinity(0))
        self.assertEqual(seats, [str(core) for core in (here[:2] if len(here) > 1 else here * 2)])
        done = self.succeed("run", self.file(TWO_HOSTS.replace("0.25", "1.25")), "--", "nproc")
        self.assertEqual(done.stdout.split(), [str(len(here))] * 2)
        file = self.file(TWO_HOSTS)
        self.succeed("up", file)
        self.assertRegex(self.succeed("set", file, "small", "cpu=1.1").stderr, r"warning: the speeds are fiction: .*want")

    def _with_false_tool(self, name, condition):
        """A PATH on which this tool fails when the condition holds for its arguments."""
        folder = os.path.join(self.scratch, "false")
        os.makedirs(folder, exist_ok=True)
        true_tool = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
        with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nif {condition}; then echo "no such thing in this kernel" >&2; exit 2; fi\n'
                       f'exec {true_tool} "$@"\n')
        os.chmod(f"{folder}/{name}", 0o755)
        return f"{folder}:{os.environ['PATH']}"

    def test_a_failed_up_leaves_nothing(self):
        path = self._with_false_tool("ip", 'echo "$*" | grep -q port1')
        said = self.refuse("up", self.file(TWO_HOSTS), PATH=path)
        self.assertIn("no such thing in this kernel; hosts need network namespaces, veth and bridge", said)
        self.assert_nothing_left()

    def test_what_tc_cannot_do_is_a_note(self):
        path = self._with_false_tool("tc", "true")
        text = TWO_HOSTS.replace("cpu = 0.5", "cpu = 0.5\nbandwidth = '100mbit'\nlatency = '1ms'")
        said = self.succeed("up", self.file(text), PATH=path).stderr
        self.assertIn("note: big: bandwidth: left out", said)
        self.assertIn("note: big: latency: left out", said)
        self.assertIn("no such thing in this kernel", said)

    def _start_sleeping(self, file):
        """A run of `sleep` in a session of its own, as from a terminal, once it sleeps on both hosts."""
        process = subprocess.Popen([self.lab, "run", file, "--", "sleep", "300"], env=self.environment, cwd="/",
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + 60
        while self._sleepers() < 2:
            self.assertLess(time.monotonic(), deadline, "it never slept")
            time.sleep(0.05)
        return process

    def _sleepers(self):
        count = 0
        for one in self.left():
            if one.startswith("process "):
                try:
                    count += self.text(f"/proc/{one.split()[1]}/comm") == "sleep"
                except OSError:
                    continue
        return count

    def test_an_interrupted_run_leaves_nothing(self):
        process = self._start_sleeping(self.file(TWO_HOSTS))
        os.killpg(process.pid, signal.SIGINT)
        self.assertNotEqual(process.wait(timeout=60), 0)
        self.assert_nothing_left()

    def test_a_signal_at_any_moment_of_up_leaves_nothing(self):
        file = self.file(LIMITED)
        for step in range(12):
            process = subprocess.Popen([self.lab, "up", file], env=self.environment, cwd="/", stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
            time.sleep(0.03 * step)
            number = (signal.SIGINT, signal.SIGTERM)[step % 2]
            os.killpg(process.pid, number)  # not reaped yet: the number is still its own
            said = process.communicate(timeout=60)[1]
            code = process.returncode
            # An interpreter that is interrupted before it has read the program ends as it likes.
            if b"KeyboardInterrupt" not in said:
                self.assertIn(code, (0, 128 + number, -number), f"step {step}")
            if code == 0:  # up before the signal
                self.succeed("down")
            self.assert_nothing_left()

    def test_down_ends_what_still_runs(self):
        file = self.file(TWO_HOSTS)
        self.succeed("up", file)
        process = self._start_sleeping(file)
        os.kill(process.pid, signal.SIGKILL)  # no process is left to end mpirun
        process.wait()
        self.succeed("down")
        self.assert_nothing_left()

    def test_probe_prints_every_host(self):
        done = self.succeed("probe", self.file(LIMITED))
        rows = done.stdout.splitlines()
        self.assertEqual([row.split()[0] for row in rows[2:4]], ["big", "small"])
        self.assertRegex(rows[2], r"^big +0\.500 +[\d.]+ +- +[\d.]+ MB/s +50 MB/s +[\d.]+ MB/s +400 mbit +[\d.]+ mbit")
        self.assertRegex(rows[4], r"^measured speeds: --speeds [\d.]+,[\d.]+$")
        self.assertIn("mode: hosts", done.stderr)
        self.assert_nothing_left()

    def test_exit_code_and_standard_input_pass_through(self):
        file = self.file(TWO_HOSTS)
        text = "".join(f"line {i}\n" for i in range(5000))
        script = 'if [ "$OMPI_COMM_WORLD_RANK" = 0 ]; then cat; fi'
        self.assertEqual(self.succeed("run", file, "--", "bash", "-c", script, stdin=text).stdout, text)
        self.assertEqual(self.call("run", file, "--", "bash", "-c", "exit 7").returncode, 7)


if __name__ == "__main__":
    unittest.main()
