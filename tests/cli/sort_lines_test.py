# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Sorts lines as sort(1) does: random options and texts, in memory and spilled, by one process and by several ranks.

HETSORT_TEST_SEED draws other cases, HETSORT_TEST_CASES their number."""
import json
import os
import random
import unittest

from shell_case import MPIRUN, PROGRAM, SEED, ShellCase

CASES = int(os.environ.get("HETSORT_TEST_CASES", "60"))
# No NaNs: sort(1) orders them by what their memory happens to hold.
WORDS = [b"", b"a", b"A", b"b", b"ab", b"aB", b"-1", b"1", b"01", b"1.5", b"1.50", b"-0", b"1e3", b"2K", b"1G", b"JAN",
         b"dec", b"a.b", b"v1.10", b"v1.9", b"~", b"\x00", b"\xff", b"\x01", b" x", b"zebra" * 3, b"a" * 40]
ORDERS = ["", "", "n", "g", "h", "M", "V", "f", "d", "i", "df", "b", "r", "nr", "fr", "Vr", "bf"]


class Case:
    """A text, in one or several files, and the options that both programs get."""

    def __init__(self, number):
        self.draw = random.Random(SEED * 1000003 + number)
        self.zero = self.draw.random() < 0.15
        self.end = b"\0" if self.zero else b"\n"
        self.separator = self.draw.choice([None, None, b",", b" ", b"\t"])
        self.options = self.keys() + self.others()
        self.files = [self.text() for _ in range(self.draw.choice([1, 1, 1, 2, 4]))]

    def keys(self):
        words = []
        for _ in range(self.draw.choice([0, 0, 1, 1, 2, 3])):
            key = str(self.draw.randint(1, 3)) + self.draw.choice(["", "", f".{self.draw.randint(1, 4)}"])
            order = self.draw.choice(ORDERS)
            if self.draw.random() < 0.6:
                key += f",{self.draw.randint(1, 4)}" + self.draw.choice(["", "", f".{self.draw.randint(0, 4)}"])
            words += ["-k", key + order]
        if self.separator is not None:
            words += ["-t", self.separator.decode()]
        return words

    def others(self):
        words = ["-" + letter for letter in self.draw.choice(ORDERS)]
        words += self.draw.choice([[], [], ["-s"], ["-u"], ["-r"]])
        return words + (["-z"] if self.zero else [])

    def line(self, longest):
        if self.draw.random() < 0.003:
            return bytes(self.draw.choice(b"ab") for _ in range(self.draw.randrange(longest)))
        gap = self.separator or self.draw.choice([b" ", b"  ", b"\t"])
        return gap.join(self.draw.choice(WORDS) for _ in range(self.draw.randrange(5)))

    def text(self):
        count = self.draw.choice([0, 1, 2, 50, 3000, 3000, 20000])
        longest = self.draw.choice([100, 5000, 300000])
        lines = [self.line(longest if count < 20000 else 5000) for _ in range(count)]
        if not self.zero:
            lines = [line.replace(b"\n", b"") for line in lines]
        else:
            lines = [line.replace(b"\0", b"") + self.draw.choice([b"", b"", b"\nx"]) for line in lines]
        text = self.end.join(lines)
        return text + (self.end if lines and self.draw.random() < 0.8 else b"")

    def resources(self):
        memory = self.draw.choice([[], ["-S", "3M"], ["-S", "8M"], ["-S", "3M", "--batch-size", "2"]])
        return ["-q", "--lines", "-j", str(self.draw.choice([1, 2, 3])), *memory]


class SortLinesTest(ShellCase):
    def prepare(self, case):
        names = [f"in{number}" for number in range(len(case.files))]
        for name, text in zip(names, case.files):
            with open(self.path(name), "wb") as file:
                file.write(text)
        expected = self.run_in("sort", *case.options, *names)
        if expected.returncode != 0:
            return names, None
        return names, expected.stdout

    def check(self, number, prefix, make_words, **more):
        case = Case(number)
        names, expected = self.prepare(case)
        outcome = self.run_in(*prefix, PROGRAM, "sort", *case.resources(), *case.options,
                              *make_words(case, names), "-o", "out", **more)
        what = f"seed {SEED}, case {number}: {' '.join(case.options)}: {outcome.stderr.decode(errors='replace')}"
        if expected is None:  # sort(1) refuses the options
            self.assertEqual(outcome.returncode, 2, what)
            return
        self.assertEqual(outcome.returncode, 0, what)
        self.assertEqual(self.read("out"), expected, what)

    def test_files_equal_those_of_sort(self):
        for number in range(CASES):
            self.check(number, [], lambda case, names: names)

    def test_streams_equal_those_of_sort(self):
        for number in range(CASES, CASES + CASES // 2):
            case = Case(number)
            self.check(number, [], lambda _, names: ["-"] + names[1:], input=case.files[0])

    def test_ranks_equal_one_process(self):
        for number in range(2 * CASES, 2 * CASES + CASES // 3):
            size = 1 + number % 4
            launcher = [*MPIRUN, "-n", str(size)]
            how = [["--strategy", "equal"], [], ["--root-input"], ["--speeds", ",".join("1234"[:size])]][number // 4 % 4]
            self.check(number, launcher, lambda _, names, how=how: [*how, *names])

    def test_own_files_of_ranks_are_sorted_together(self):
        for number in range(3 * CASES, 3 * CASES + 4):
            case = Case(number)
            case.options = [word for word in case.options if word != "-u"]
            case.files = (case.files * 3)[:3]
            _, expected = self.prepare(case)
            if expected is None:
                continue
            launcher = [*MPIRUN, "-n", "3"]
            outcome = self.run_in(*launcher, PROGRAM, "sort", *case.resources(), *case.options, "in{rank}", "-o",
                                  "out{rank}")
            self.assertEqual(outcome.returncode, 0, f"case {number}: {outcome.stderr}")
            self.assertEqual(b"".join(self.read(f"out{rank}") for rank in range(3)), expected, f"case {number}")

    def test_a_random_order_is_the_same_everywhere_and_keeps_equal_keys_together(self):
        draw = random.Random(SEED)
        lines = [b"%d,%x\n" % (draw.randrange(2000), draw.getrandbits(draw.randrange(1, 800))) for _ in range(60000)]
        with open(self.path("in"), "wb") as file:
            file.write(b"".join(lines))
        orders = []
        for launcher, names, text in self.ways_of_reading():
            for more in ([], ["-S", "3M"]):
                outcome = self.run_in(*launcher, PROGRAM, "sort", "-q", "-j", "2", *more, "-t,", "-k1,1R",
                                      "--random-source=in", *names, "-o", "out", input=text)
                self.assertEqual(outcome.returncode, 0, f"seed {SEED}: {outcome.stderr}")
                orders.append(self.read("out"))
        self.assertEqual(len(set(orders)), 1, f"seed {SEED}")
        found = orders[0].splitlines(keepends=True)
        self.assertEqual(sorted(found), sorted(lines), f"seed {SEED}")
        groups = [key for before, key in zip([b""] + found, found) if before.split(b",")[0] != key.split(b",")[0]]
        self.assertEqual(len(groups), len({line.split(b",")[0] for line in lines}), f"seed {SEED}")
        launcher = [*MPIRUN, "-n", "3"]
        for prefix in ([], [], launcher):  # the system's seed differs from sort to sort, but not from rank to rank
            outcome = self.run_in(*prefix, PROGRAM, "sort", "-q", "--sort=random", "in", "-o", "out")
            self.assertEqual(outcome.returncode, 0, f"seed {SEED}: {outcome.stderr}")
            orders.append(self.read("out"))
            self.assertEqual(sorted(orders[-1].splitlines(keepends=True)), sorted(lines), f"seed {SEED}")
        self.assertEqual(len(set(orders)), 4, f"seed {SEED}")

    def write_with_long_lines(self, longest):
        """Some times the memory of -S 8M, with a line of `longest` bytes in each quarter. Returns the first one's offset."""
        draw = random.Random(SEED)
        parts = [b"".join(b"%x\n" % draw.getrandbits(draw.randrange(200)) for _ in range(130000)) for _ in range(4)]
        lines = [draw.choice(b"0123456789abcdef").to_bytes(1, "little") * longest + b"\n" for _ in parts]
        with open(self.path("in"), "wb") as file:
            file.write(b"".join(part + line for part, line in zip(parts, lines)))
        return len(parts[0])

    def ways_of_reading(self):
        """Words before the program, words behind it, and its standard input."""
        launcher = [*MPIRUN, "-n", "2"]
        return [([], ["in"], None), ([], [], self.read("in")), (launcher, ["in"], None),
                (launcher, ["--root-input", "in"], None)]

    def test_a_line_of_an_eighth_of_memory_is_sorted_by_any_number_of_threads(self):
        self.write_with_long_lines(1 << 20)
        expected = self.run_in("sort", "in").stdout
        for launcher, names, text in self.ways_of_reading():
            outcome = self.run_in(*launcher, PROGRAM, "sort", "-q", "--lines", "-S", "8M", "-j", "8", *names, "-o",
                                  "out", input=text)
            self.assertEqual(outcome.returncode, 0, f"seed {SEED}: {names}: {outcome.stderr}")
            self.assertEqual(self.read("out"), expected, f"seed {SEED}: {names}")

    def test_a_longer_line_is_refused_with_its_offset(self):
        offset = self.write_with_long_lines((1 << 20) + 1)
        for launcher, names, text in self.ways_of_reading():
            for threads in ("1", "8"):
                outcome = self.run_in(*launcher, PROGRAM, "sort", "-q", "--lines", "-S", "8M", "-j", threads,
                                      *names, "-o", "out", input=text)
                self.assertEqual(outcome.returncode, 2, f"seed {SEED}: {names}")
                self.assertIn(b"is longer than 1048576 bytes", outcome.stderr)
                if not launcher:
                    self.assertIn(b"the line at offset %d " % offset, outcome.stderr)
                self.assertFalse(os.path.exists(self.path("out")))

    def test_lines_with_the_same_first_bytes_are_cut_exactly_for_all_threads(self):
        draw = random.Random(SEED)
        fronts = [b"", b"x" * 256, b"x" * 400, b"x" * 255 + b"y" * 200]
        ends = [b"", b"", b"z" * 5, b"z" * 70000]
        with open(self.path("in"), "wb") as file:
            for number in range(30000):
                end = draw.choice(ends) if number % 100 == 0 else b""
                file.write(draw.choice(fronts) + b"%d" % draw.randrange(20000) + end + b"\n")
        for options in ([], ["-s", "-k1.2,1.300"], ["-u"], ["-r"]):
            expected = self.run_in("sort", *options, "in").stdout
            for launcher, names, _ in self.ways_of_reading()[::2]:
                outcome = self.run_in(*launcher, PROGRAM, "sort", "-q", "--lines", "-S", "3M", "-j", "3", *options,
                                      *names, "-o", "out")
                self.assertEqual(outcome.returncode, 0, f"seed {SEED}: {names}: {outcome.stderr}")
                self.assertEqual(self.read("out"), expected, f"seed {SEED}: {options} {names}")

    def test_lines_in_reverse_are_read_once_and_do_not_spill(self):
        draw = random.Random(SEED)
        lines = [b"%d %x" % (draw.randrange(100000), draw.getrandbits(draw.choice([8, 80, 80, 800]))) for _ in range(150000)]
        for options, spills in (([], False), (["-n"], False), (["-r"], False), (["-s", "-k1,1"], True)):
            with open(self.path("in"), "wb") as file:
                file.write(b"\n".join(lines + lines[:1000]))
            self.run_in("sort", *options, "in", "-o", "ordered")
            with open(self.path("in"), "wb") as file:
                file.write(b"\n".join(reversed(self.read("ordered").splitlines())))
            expected = self.run_in("sort", *options, "in").stdout
            outcome = self.run_in(PROGRAM, "sort", "-q", "--lines", "-S", "3M", *options, "in", "-o", "out",
                                  "--report", "report")
            self.assertEqual(outcome.returncode, 0, f"seed {SEED}: {options}: {outcome.stderr}")
            self.assertEqual(self.read("out"), expected, f"seed {SEED}: {options}")
            spilled = json.loads(self.read("report"))["ranks"][0]["bytes_spilled"]
            self.assertEqual(spilled > 0, spills, f"seed {SEED}: {options}: {spilled} bytes")

    def test_runs_that_spill_are_compressed(self):
        draw = random.Random(SEED)
        with open(self.path("in"), "wb") as file:
            for _ in range(120000):
                file.write(b"%d: a line of a log with %x\n" % (draw.randrange(100000), draw.getrandbits(40)))
        for options, launcher in (([], []), (["-n", "-r"], []), (["-u", "-k1,2"], []), ([], [*MPIRUN, "-n", "2"])):
            expected = self.run_in("sort", *options, "in").stdout
            spilled = {}
            for way in ("no", "zstd", "lz4", "auto"):
                outcome = self.run_in(*launcher, PROGRAM, "sort", "-q", "--lines", "-S", "2M", "-j", "2", *options,
                                      "--batch-size", "3", "--compress-spill", way, "in", "-o", "out", "--report", "report")
                self.assertEqual(outcome.returncode, 0, f"seed {SEED}: {options} {way}: {outcome.stderr}")
                self.assertEqual(self.read("out"), expected, f"seed {SEED}: {options} {way}")
                spilled[way] = sum(rank["bytes_spilled"] for rank in json.loads(self.read("report"))["ranks"])
            for way in ("zstd", "lz4"):
                self.assertLess(spilled[way], spilled["no"] * 3 // 4, f"seed {SEED}: {options}")
        outcome = self.run_in(PROGRAM, "sort", "--lines", "--compress-spill", "gzip", "in", "-o", "out")
        self.assertEqual((outcome.returncode, outcome.stderr.count(b"\n")), (2, 1), outcome.stderr)

    def test_sorted_files_are_merged_and_checked(self):
        for number in range(4 * CASES, 4 * CASES + CASES // 3):
            case = Case(number)
            names, expected = self.prepare(case)
            if expected is None:
                continue
            for name in names:
                self.run_in("sort", *case.options, name, "-o", name)
            merged = self.run_in(PROGRAM, "sort", "-q", "--lines", "-m", *case.options, *names, "-o", "out")
            what = f"seed {SEED}, case {number}: {' '.join(case.options)}: {merged.stderr}"
            reference = self.run_in("sort", "-m", *case.options, *names)
            self.assertEqual(merged.returncode, 0, what)
            self.assertEqual(self.read("out"), reference.stdout, what)
            checked = self.run_in(PROGRAM, "sort", "-C", "--lines", *case.options, "out")
            self.assertEqual(checked.returncode, 0, what)


if __name__ == "__main__":
    unittest.main()
