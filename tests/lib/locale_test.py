# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""The package in a program whose locale writes numbers with a decimal comma."""
import os
import subprocess
import sys
import tempfile
import unittest

from package import HERE

PROGRAM = """
import locale, os, sys
sys.path.insert(0, sys.argv[1])
import package
import hetsort
plans = [hetsort.plan(3000, speeds=[0.5, 2.5])]
locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
assert locale.localeconv()["decimal_point"] == ","
os.chdir(sys.argv[2])

def sorted_lines(text, **options):
    with open("in", "w") as file:
        file.write(text)
    report = hetsort.sort_file("in", "out", no_sync=True, **options)
    assert report["ranks"][0]["phases"][0]["begin"] >= 0
    with open("out") as file:
        return file.read().split()

numbers = "1.5\\n1.25\\n1,75\\n0x1.8p1\\n-1e-1\\n"
assert sorted_lines(numbers, general_numeric_sort=True) == ["-1e-1", "1,75", "1.25", "1.5", "0x1.8p1"]
assert sorted_lines("1.5\\n1.25\\n1,75\\n", numeric_sort=True) == ["1,75", "1.25", "1.5"]
assert sorted_lines("1.5K\\n1.25K\\n1,75K\\n", human_numeric_sort=True) == ["1,75K", "1.25K", "1.5K"]
plans.append(hetsort.plan(3000, speeds=[0.5, 2.5]))
assert plans[0] == plans[1], plans
with open("nodes.toml", "w") as file:
    file.write('[[node]]\\nname = "a"\\nspeed = 0.5\\n[[node]]\\nname = "b"\\nspeed = 2.5\\n')
assert hetsort.plan(3000, cluster="nodes.toml", strategy="proportional").shares == [500, 2500]
hetsort.sort_file("in", "out", record_size=1, stall_timeout="1.5", no_sync=True)
if package.numpy is not None:
    try:
        hetsort.sort(package.numpy.zeros(1_000_000), memory="1536K")
        assert False, "no error"
    except hetsort.OutOfMemory as error:
        assert "1.5 MiB" in str(error), error
print("all is well")
"""


class Locale(unittest.TestCase):
    def test_a_decimal_comma_of_the_program_changes_no_result(self):
        with tempfile.TemporaryDirectory() as folder:
            # -c: the sources of some systems bring warnings, which are no matter here.
            made = subprocess.run(["localedef", "-c", "-i", "de_DE", "-f", "UTF-8", os.path.join(folder, "de_DE.UTF-8")],
                                  check=False, capture_output=True, text=True)
            if not os.path.exists(os.path.join(folder, "de_DE.UTF-8", "LC_NUMERIC")):
                self.skipTest("the package locales is not installed: " + made.stderr)
            done = subprocess.run([sys.executable, "-B", "-c", PROGRAM, HERE, folder], check=False, capture_output=True,
                                  text=True, timeout=60, env={**os.environ, "LOCPATH": folder})
            self.assertEqual((done.returncode, done.stdout), (0, "all is well\n"), done.stderr)


if __name__ == "__main__":
    unittest.main()
