# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""A lab's life where there is no root: labs of burners, mistakes, what is in the way."""
import os
import shutil
import signal
import subprocess
import time
import unittest

from support import LAB, TWO_HOSTS, LabCase


def needs_mpirun(test):
    return unittest.skipUnless(shutil.which("mpirun"), "mpirun is not installed")(test)


class Life(LabCase):
    @needs_mpirun
    def test_burners_run_a_program_on_every_rank(self):
        file = self.file(TWO_HOSTS)
        done = self.succeed("up", "--burners", file)
        self.assertIn("mode: burners", done.stderr)
        self.assertIn("part", done.stdout)
        script = 'echo "$OMPI_COMM_WORLD_RANK $HETSORT_LAB_HOST $HETSORT_LAB_DISK $HETSORT_LAB_MODE $(nice)"'
        done = self.succeed("run", "--burners", file, "--", "bash", "-c", script)
        lines = sorted(line.split() for line in done.stdout.splitlines())
        self.assertEqual([line[:2] for line in lines], [["0", "big"], ["1", "small"]])
        self.assertEqual([os.path.basename(line[2]) for line in lines], ["big", "small"])
        self.assertEqual({line[3] for line in lines}, {"burners"})
        for rank, line in enumerate(lines):
            self.assertTrue(os.path.samefile(line[2], os.path.join(os.path.dirname(line[2]), "by-rank", str(rank))))
        self.succeed("down")
        self.assert_nothing_left()

    def test_a_file_with_mistakes_ends_with_2(self):
        file = self.file("[[node]]\ncpu = 0\n")
        for word in ("up", "probe"):
            self.assertIn("lab.toml:2:7: cpu must be a finite number above zero, not 0",
                          self.refuse(word, "--burners", file))
        self.assertIn("cannot read /nowhere", self.refuse("run", "/nowhere", "--", "true"))
        self.assertIn("which command", self.refuse("run", self.file(TWO_HOSTS)))
        self.assertIn("invalid choice", self.refuse("sideways"))
        self.assertIn("HETSORT_LAB_NAME", self.refuse("down", HETSORT_LAB_NAME="a/b"))
        self.assert_nothing_left()

    def test_foreign_folders_stay(self):
        done = self.succeed("up", "--burners", self.file(TWO_HOSTS))
        self.succeed("down")
        foreign = os.path.join(self.scratch, "disks", self.name + ("" if os.geteuid() == 0 else f"-{os.geteuid()}"))
        os.mkdir(foreign)
        with open(foreign + "/mine", "w", encoding="ascii") as file:
            file.write("precious")
        said = self.refuse("up", "--burners", self.file(TWO_HOSTS))
        self.assertIn("does not belong to a lab", said, done.stderr)
        self.assertTrue(os.path.exists(foreign + "/mine"))
        shutil.rmtree(foreign)

    def test_up_is_idempotent_and_another_file_is_refused(self):
        file = self.file(TWO_HOSTS)
        self.assertIn("up; './dev lab down'", self.succeed("up", "--burners", file).stderr)
        self.assertIn("already up", self.succeed("up", "--burners", file).stderr)
        other = self.file(TWO_HOSTS.replace("0.25", "0.3"), "other.toml")
        self.assertIn("another lab is up (2 hosts, mode burners)", self.refuse("up", "--burners", other))
        self.succeed("down")
        self.succeed("down")
        self.assert_nothing_left()

    def test_a_killed_up_is_cleared_by_the_next(self):
        self.succeed("up", "--burners", self.file(TWO_HOSTS))
        state = next(path for path in self.left() if os.path.exists(path + "/lab.json"))
        os.unlink(state + "/lab.json")  # as if it had died before the first record
        os.unlink(state + "/hosts/1")
        self.assertIn("up; ", self.succeed("up", "--burners", self.file(TWO_HOSTS)).stderr)
        self.assertTrue(os.path.exists(state + "/hosts/1"))
        self.succeed("down")
        self.assert_nothing_left()

    @needs_mpirun
    def test_ranks_of_one_host_share_its_place(self):
        script = 'echo "$OMPI_COMM_WORLD_RANK $HETSORT_LAB_HOST $(readlink "$HETSORT_LAB_DISK/../by-rank/$OMPI_COMM_WORLD_RANK")"'
        done = self.succeed("run", "--burners", "--ranks", "big,small,small", self.file(TWO_HOSTS), "--", "bash", "-c", script)
        self.assertEqual(sorted(done.stdout.splitlines()), ["0 big ../big", "1 small ../small", "2 small ../small"])
        self.assertIn("no host 'large'", self.refuse("run", "--ranks", "large", self.file(TWO_HOSTS), "--", "true"))
        self.assert_nothing_left()

    @needs_mpirun
    def test_the_lab_of_a_run_is_closed_to_other_commands(self):
        file = self.file(TWO_HOSTS)
        run = subprocess.Popen([self.lab, "run", "--burners", file, "--", "sleep", "60"], env=self.environment,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        deadline = time.monotonic() + 60
        while not self._sleeps() and time.monotonic() < deadline:
            time.sleep(0.05)
        for words in (["run", "--burners", file, "--", "true"], ["up", "--burners", file]):
            self.assertIn("another command uses the lab", self.refuse(*words))
        self.assertTrue(self._sleeps())
        run.kill()
        run.wait()
        self.succeed("run", "--burners", file, "--", "true")
        self.assert_nothing_left()

    def test_a_change_is_known_from_then_on(self):
        file = self.file(TWO_HOSTS)
        self.assertIn("no lab is up", self.refuse("set", file, "big", "cpu=0.1"))
        self.succeed("up", "--burners", file)
        for _ in range(2):
            self.assertRegex(self.succeed("set", file, "big", "cpu=0.25").stdout, r"big +0 +0\.250 ")
        self.assertRegex(self.succeed("up", "--burners", file).stdout, r"big +0 +0\.250 ")
        for words, message in ((["other", "cpu=0.1"], "no host 'other'; it has big, small"),
                               (["big", "cpu=x"], "cpu must be a number, not 'x'"),
                               (["big", "bandwidth=1mbit"], "a lab of burners has no links")):
            self.assertIn(message, self.refuse("set", file, *words))
        other = self.file(TWO_HOSTS.replace("0.25", "0.3"), "other.toml")
        self.assertIn("was made from another file than", self.refuse("set", other, "big", "cpu=0.1"))
        self.succeed("down")
        self.succeed("up", "--burners", file)
        self.assertRegex(self.succeed("up", "--burners", file).stdout, r"big +0 +0\.500 ")
        self.succeed("down")
        self.assert_nothing_left()

    @needs_mpirun
    def test_everything_works_without_root(self):
        """As the user nobody, from a copy of the tree; as the present user if that is not root."""
        if os.geteuid() == 0:
            copy = os.path.join(self.scratch, "tree", "bench", "lab")
            shutil.copytree(os.path.dirname(LAB), copy, ignore=shutil.ignore_patterns("__pycache__"))
            for folder, _, files in os.walk(self.scratch + "/tree"):
                os.chmod(folder, 0o755)
                for name in files:
                    path = os.path.join(folder, name)
                    os.chmod(path, 0o755 if os.access(path, os.X_OK) else 0o644)
            runtime = os.path.join(self.scratch, "runtime")
            os.mkdir(runtime)
            os.chown(runtime, 65534, 65534)
            os.chmod(self.scratch + "/disks", 0o1777)
            self.lab, self.user = os.path.join(copy, "lab"), 65534
            self.environment |= {"HOME": runtime, "XDG_RUNTIME_DIR": runtime, "TMPDIR": runtime}
        file = self.file(TWO_HOSTS)
        done = self.succeed("run", file, "--", "bash", "-c", "echo $HETSORT_LAB_HOST")
        self.assertEqual(sorted(done.stdout.split()), ["big", "small"])
        self.assertIn("not root, therefore no namespaces and control groups", done.stderr)
        self.assertIn("mode: burners", done.stderr)
        self.assert_nothing_left()
        process = subprocess.Popen([self.lab, "run", file, "--", "sleep", "60"], env=self.environment, user=self.user,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   cwd="/")
        deadline = time.monotonic() + 60
        while not self._sleeps() and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        self.assertNotEqual(process.wait(timeout=60), 0)
        self.assert_nothing_left()

    def _sleeps(self):
        for one in self.left():
            if one.startswith("process "):
                try:
                    with open(f"/proc/{one.split()[1]}/comm", encoding="ascii") as file:
                        if file.read().strip() == "sleep":
                            return True
                except OSError:
                    continue
        return False
