# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests share: the package on the path, labs of a name of their own, and proof that nothing is left."""
import glob
import os
import subprocess
import sys
import tempfile
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "bench"))
LAB = os.path.join(TOP, "bench", "lab", "lab")
PATIENCE_SECONDS = 100

TWO_HOSTS = """
[[node]]
name = "big"
cpu = 0.5
speed = 2
[[node]]
name = "small"
cpu = 0.25
speed = 1
"""


class LabCase(unittest.TestCase):
    """A lab of this process alone, with its files in a folder of its own; taken down after each test."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = scratch.name
        os.chmod(self.scratch, 0o755)
        self.name = f"hetsort-lab-test-{os.getpid()}"
        self.lab = LAB
        self.user = None
        self.environment = {**os.environ, "HETSORT_LAB_NAME": self.name, "HETSORT_LAB_DISKS": self.scratch + "/disks",
                            "XDG_RUNTIME_DIR": self.scratch, "TMPDIR": self.scratch}
        os.mkdir(self.scratch + "/disks", 0o777)
        self.addCleanup(self.call, "down")

    def file(self, text, name="lab.toml"):
        path = os.path.join(self.scratch, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o644)
        return path

    def call(self, *words, stdin="", **environment):
        """Returns the finished process."""
        return subprocess.run([self.lab, *words], env={**self.environment, **environment}, input=stdin, text=True,
                              capture_output=True, timeout=PATIENCE_SECONDS, check=False, user=self.user, cwd="/")

    def succeed(self, *words, **more):
        done = self.call(*words, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def refuse(self, *words, **more):
        """Returns what it said; the exit code must be that of an error."""
        done = self.call(*words, **more)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        return done.stderr

    def left(self):
        """Everything of this lab that there is."""
        found = []
        for pattern in ("/run/{}*", "/run/netns/{}*", "/sys/fs/cgroup/{}*", "/sys/fs/cgroup/*/{}*", "/var/tmp/{}*",
                        self.scratch + "/{}*", self.scratch + "/disks/{}*"):
            found += glob.glob(pattern.format(self.name))
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{entry}/environ", "rb") as file:
                    if b"HETSORT_LAB_STATE=" in (text := file.read()) and self.name.encode() in text:
                        found.append(f"process {entry}")
            except OSError:
                continue
        return found

    def assert_nothing_left(self):
        self.assertEqual(self.left(), [])
