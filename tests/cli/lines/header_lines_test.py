# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Lines at the start of each INPUT that stay on top: --header-lines and --comment, in every way of reading and writing.

HETSORT_TEST_SEED draws other lines."""
import os
import random
import unittest

from shell_case import SEED, ShellCase

KEY = ["-t,", "-k2,2n"]
HEADERS = [(b"", ["--header-lines", "0"]), (b"name,value\n", ["--header-lines", "1"]),
           (b"#name,value\n\n##9\n", ["--header-lines=3"]), (b"#a\n##b\n#" + b"c" * 9000 + b"\n", ["--comment", "#"]),
           (b"", ["--comment", "%"])]


class HeaderLinesTest(ShellCase):
    def prepare(self, header, options):
        """Three inputs with this header, and what a sort of them must give."""
        draw = random.Random(SEED)
        parts = [b"".join(b"%x,%d\n" % (draw.getrandbits(draw.randrange(1, 400)), draw.randrange(1000))
                          for _ in range(count)) for count in (9000, 1, 12000)]
        for number, part in enumerate(parts):
            self.write(f"in{number}", header + (part[:-1] if number == 1 else part))
        self.write("parts", b"".join(parts))
        lines = self.shell(f"sort {' '.join(options)} parts").stdout
        return header + lines

    def test_they_stay_on_top_however_lines_are_read_and_written(self):
        for header, words in HEADERS:
            options = " ".join(words + KEY).replace("#", "'#'")
            expected = self.prepare(header, KEY)
            for memory in ("", "-S 1M "):
                sort = f"$H sort -q {memory}{options} "
                self.expect(expected, sort + "in0 in1 in2 -o out")
                self.expect(expected, sort + "in0 in1 in2", None)
                self.expect(expected, "cat in0 | " + sort + "- in1 in2 -o out")
                self.expect(expected, sort + "in0 <(cat in1) in2 -o out")
                self.expect(expected, sort + "<(cat in0) in1 <(cat in2)", None)
            self.expect(expected, sort + f"in0 in1 in2 -o a -o b && (cat a; tail -c +{len(header) + 1} b) >out")
            self.expect(header + self.shell(f"sort -u {' '.join(KEY)} parts").stdout, sort + "-u in0 in1 in2 -o out")
            self.expect(expected, "for i in 0 1 2; do " + sort + "in$i -o s$i; done; " + sort + "-m s0 s1 s2 -o out")
            self.expect(expected, sort + "-m <(cat s0) s1 <(cat s2)", None)
            self.expect(b"", sort + "-c s0 && cat s2 | " + sort + "-c", None)

    def test_ranks_keep_the_header_once_in_each_output(self):
        for number, (header, words) in enumerate(HEADERS):
            options = " ".join(words + KEY).replace("#", "'#'")
            expected = self.prepare(header, KEY)
            sort = f"$M -n {1 + number % 4} $H sort -q -S 4M {options} "
            self.expect(expected, sort + ("--root-input " if number % 2 else "") + "in0 in1 in2 -o out")
            self.expect(expected, sort + "in0 in1 in2", None)
            self.expect(expected, f"$M -n 3 $H sort -q {options} 'in{{rank}}' -o 'out{{rank}}' && "
                        f"(cat out0; tail -c +{len(header) + 1} out1; tail -c +{len(header) + 1} out2) >out")
            self.assertTrue(self.read("out2").startswith(header))

    def test_what_does_not_fit_is_one_error(self):
        self.write("a", b"#h\n2\n1\n")
        self.write("b", b"#i\n2\n1\n")
        self.shell("xz -k a")
        for words, message in (("--header-lines 1 a b", "read b: its header differs from that of a"),
                               ("--header-lines 1 <(cat a) b", "its header differs from that of b"),
                               ("--comment '#' a <(cat b)", "its header differs from that of a"),
                               ("-m --comment '#' a <(cat b)", "its header differs from that of a"),
                               ("--header-lines 4 a", "it has 3 lines, fewer than the header of 4 (--header-lines)"),
                               ("--header-lines 1 /dev/null", "it has 0 lines, fewer than the header of 1"),
                               ("--header-lines 1 <(head -c 17000000 /dev/zero)", "its header is longer than 16.0 MiB"),
                               ("--header-lines 1 a.xz", "this is xz data"),
                               ("--header-lines 1 <(cat a.xz)", "this is xz data"),
                               ("--comment '##' a", "--comment '##': one byte begins a comment"),
                               ("--header-lines x a", "--header-lines"),
                               ("--header-lines 1 --comment x a", "--header-lines and --comment exclude each other"),
                               ("-k1 --header 3 a", "-k is for lines: it excludes --header; use --header-lines")):
            outcome = self.shell(f"$H sort {words} -o out")
            self.assertEqual(outcome.returncode, 2, words)
            self.assertIn(message, outcome.stderr.decode(), words)
            self.assertEqual(outcome.stderr.count(b"\n"), 1, outcome.stderr)
            self.assertFalse(os.path.exists(os.path.join(self.folder, "out")), words)
        outcome = self.shell("$M -n 2 $H sort --comment '#' a b -o out; $H sort -c --header-lines 1 a")
        self.assertEqual(outcome.returncode, 1)
        self.assertIn("its header differs from that of a", outcome.stderr.decode())
        self.assertIn("check a: line 3 at offset 5 is below the line before it", outcome.stderr.decode())

    def test_an_empty_input_has_any_comment(self):
        self.write("a", b"#h\n2\n1\n")
        self.write("none", b"")
        for names in ("a none", "none a", "a <(true)", "<(true) a", "<(cat a) none"):
            self.expect(b"#h\n1\n2\n", f"$H sort --comment '#' {names}", None)
        self.shell("cp a in0; cp none in1")
        self.expect(b"#h\n1\n2\n", "$M -n 2 $H sort --comment '#' 'in{rank}'", None)

    def test_a_header_without_an_end_gets_one(self):
        self.expect(b"h\n", "printf h | $H sort --header-lines 1", None)
        self.expect(b"#h\n", "printf '#h' | $H sort --comment '#'", None)


if __name__ == "__main__":
    unittest.main()
