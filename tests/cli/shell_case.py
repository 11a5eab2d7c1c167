# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""What tests in Python share: a folder of their own, in which programs and lines of bash run."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = os.path.abspath(os.environ.get("HETSORT_LAB_BUILD", "."))
PROGRAM = os.path.join(BUILD, "hetsort")
SEED = int(os.environ.get("HETSORT_TEST_SEED", "1"))
#: The launcher; the number of ranks and the program follow.
MPIRUN = [os.environ.get("HETSORT_MPIRUN", "mpirun"), "--oversubscribe", "--bind-to", "none"]
ENVIRONMENT = {**os.environ, "LC_ALL": "C", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}

#: For jobs that are refused and have nothing to clean up: Open MPI's mpirun waits seconds for ranks that are gone.
END_AT_ONCE = {"OMPI_MCA_odls_base_sigkill_timeout": "0"}


class ShellCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="hetsort-test-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def run_in(self, *words, **more):
        """Runs a program in the folder."""
        return subprocess.run(words, cwd=self.folder, **{"env": ENVIRONMENT, **more}, capture_output=True, timeout=120,
                              check=False)

    def shell(self, line, **more):
        """Runs a line of bash with H, the program, M, the launcher, and P, the interpreter."""
        return self.run_in("bash", "-c", f"H='{PROGRAM}'; M='{' '.join(MPIRUN)}'; P='{sys.executable}'\n{line}", **more)

    def expect(self, expected, line, name="out"):
        """The line ends well, and the file `name`, or standard output if that is None, has what is expected."""
        outcome = self.shell(line)
        what = f"seed {SEED}: {line}: exit {outcome.returncode}, {outcome.stderr.decode(errors='replace')}"
        self.assertEqual(outcome.returncode, 0, what)
        found = outcome.stdout if name is None else self.read(name)
        self.assertTrue(found == expected, f"{what}: {len(found)} bytes instead of {len(expected)}, or others")
