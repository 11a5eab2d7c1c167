# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Compressed inputs and outputs, made and read by the usual tools: every way to give them, damage, and bad requests.

HETSORT_TEST_SEED draws other contents."""
import os
import random
import unittest

from shell_case import SEED, ShellCase

DRAW = random.Random(SEED)
OLD = b"old contents\n"
#: Commands that compress standard input: one frame or many, of any size.
TOOLS = {"gz": "gzip -c", "bgz": "bgzip -c", "zst": "zstd -qc", "lz4": "lz4 -qc", "fast.zst": "zstd -qc --no-check -1",
         "blocks.lz4": "lz4 -qc -B4 -BD --no-frame-crc", "parts.gz": "split -b 20000 --filter 'gzip -c'",
         "parts.zst": "split -b 20000 --filter 'zstd -qc'", "parts.lz4": "split -b 20000 --filter 'lz4 -qc'"}
READERS = {"gz": "gzip -dc", "bgz": "bgzip -dc", "zst": "zstd -dqc", "lz4": "lz4 -dqc"}
FORMATS = {"gz": "gzip", "bgz": "gzip", "zst": "zstd", "lz4": "lz4"}


class CompressedFiles(ShellCase):
    def shell(self, line, **more):
        return super().shell("set -o pipefail\n" + line, **more)

    def expect(self, expected, line, name=None):
        super().expect(expected, line, name)

    def refused(self, texts, line):
        """One message with these texts; `out` stays as it is."""
        self.write("out", OLD)
        outcome = self.shell(line)
        message = outcome.stderr.decode(errors="replace")
        what = f"seed {SEED}: {line}: exit {outcome.returncode}, {message}"
        self.assertEqual(outcome.returncode, 2, what)
        self.assertEqual(message.count("hetsort: "), 1, what)
        for text in texts:
            self.assertIn(text, message, what)
        self.assertEqual(self.read("out"), OLD, what)
        self.assertEqual([name for name in os.listdir(self.folder) if "hetsort" in name], [], what)

    def prepare(self, count):
        """Three files of lines, and three of records; returns what sorts of each give."""
        words = [bytes(DRAW.choices(b"abcdef ", k=DRAW.randrange(60))) + b"\n" for _ in range(3 * count)]
        records = [DRAW.randbytes(4) * 5 + b"x" * 80 for _ in range(3 * count)]
        for i in range(3):
            self.write(f"l{i}", b"".join(words[i * count:(i + 1) * count]))
            self.write(f"r{i}", b"".join(records[i * count:(i + 1) * count]))
        return {"l": b"".join(sorted(words)), "r": b"".join(sorted(records, key=lambda record: record[:10]))}

    def test_every_tool_in_every_way(self):
        for kind, expected in self.prepare(1500 + DRAW.randrange(1000)).items():
            lines = " --lines" if kind == "l" else ""
            for ending, tool in TOOLS.items():
                self.expect(b"", f"for i in 0 1 2; do {tool} <{kind}$i >{kind}$i.{ending}; done")
                names = [f"{kind}{i}.{ending}" for i in range(3)]
                for memory in ("", " -S 1M"):
                    sort = f"$H sort -q{lines}{memory}"
                    self.expect(expected, f"{sort} {' '.join(names)} -o out", "out")
                    self.expect(expected, f"cat {names[1]} | {sort} {names[0]} - {kind}2")
                self.expect(expected, f"cat {' '.join(names)} | $H sort -q{lines}")
                self.expect(b"", f"$H sort{lines} {' '.join(names)} -qo all.{ending[-3:].lstrip('.')} && "
                                 f"$H sort -c{lines} all.{ending[-3:].lstrip('.')}")

    def test_outputs_are_read_by_the_usual_tools(self):
        contents = self.prepare(30000)
        for kind, expected in contents.items():
            lines = " --lines" if kind == "l" else ""
            for ending, reader in READERS.items():
                for options in ("-j 1", "-j 3", "-S 4M"):
                    sort = f"$H sort -q{lines} {options} {kind}0 {kind}1 {kind}2"
                    self.expect(expected, f"{sort} -o out.{ending} && {reader} <out.{ending}")
                    self.expect(expected, f"{sort} --compress {FORMATS[ending]} | {reader}")
                self.expect(expected, f"{sort} -o out.{ending} --compress no && cat out.{ending}")
                self.expect(b"", f"$H sort{lines} /dev/null -o none.{ending} && {reader} <none.{ending}")
                self.assertGreater(len(self.read(f"none.{ending}")), 0)
        for level in ("gzip:1", "gzip:3", "zstd:1", "zstd:19", "lz4:1", "lz4:12"):
            reader = level.partition(":")[0] + " -dc"
            self.expect(contents["l"], f"$H sort -q --lines l0 l1 l2 --compress {level} -o out && {reader} <out")
        self.expect(b"", "$H sort -q --lines l0 -o out.bgz && bgzip -t out.bgz")
        self.expect(b"", f"head -c 3000000 /dev/urandom >noise && $H sort -q --record-size 100 noise -o noise.gz && gzip -dc "
                         "noise.gz | $H sort -c --record-size 100 && $H sort -c --record-size 100 noise.gz && "
                         "$H validate -q noise.gz")

    def test_options_of_lines(self):
        expected = self.prepare(500)["l"]
        self.shell("for i in 0 1 2; do (printf '#h\\n'; cat l$i) | gzip -c >h$i.gz; done; cat l? | sort -u >unique; "
                   "for i in 0 1 2; do $H sort --lines l$i -qo s$i.zst; done")
        for header in ("--header-lines 1", "--comment '#'"):
            self.expect(b"#h\n" + expected, f"$H sort -q --lines {header} h0.gz h1.gz h2.gz -o h.lz4 && lz4 -dqc h.lz4")
        unique = b"".join(sorted(set(expected.splitlines(keepends=True))))
        self.expect(unique, "$H sort -q --lines -u l0 s1.zst l2 -o u.gz && gzip -dc u.gz")
        self.expect(expected, "$H sort -q --lines -m s0.zst s1.zst <(cat s2.zst) -o m.gz && gzip -dc m.gz")
        self.expect(expected, "ulimit -n 42; $H sort -q --lines $(for i in $(seq 30); do echo e$i.gz; gzip -c </dev/null >e$i.gz; "
                              "done) s0.zst s1.zst s2.zst")

    def test_ranks(self):
        for kind, expected in self.prepare(2000).items():
            lines = " --lines" if kind == "l" else ""
            self.expect(b"", f"for i in 0 1 2; do zstd -q {kind}$i; gzip -k {kind}$i; done")
            for count in range(1, 5):
                sort = f"$M -n {count} $H sort -q{lines}"
                self.expect(expected, f"{sort} --root-input {kind}0.zst {kind}1.gz {kind}2 -o out.gz && gzip -dc out.gz")
                self.expect(expected, f"{sort} {kind}0 {kind}1 {kind}2 -o out.lz4 && lz4 -dqc out.lz4")
            for options in ("", " -S 4M"):
                sort = f"$M -n 3 $H sort -q{lines}{options} --strategy equal"
                self.expect(expected, f"{sort} '{kind}{{rank}}.zst' -o 'o{{rank}}.zst' && "
                                      "for i in 0 1 2; do zstd -dqc o$i.zst >o$i; done; cat o0 o1 o2")
                self.assertGreater(len(self.read("o1")), len(expected) / 4)
            self.expect(expected, f"mkfifo p0 p1 p2; (cat p0 & cat p1 >q1 & cat p2 >q2 & wait; cat q1 q2) & "
                                  f"{sort} '{kind}{{rank}}.gz' -o 'p{{rank}}'; wait; rm p?")
            self.expect(expected, f"$M -n 3 $H sort -q{lines} '{kind}{{rank}}.gz' -o out", "out")
            self.refused(["compressed", "--root-input"], f"$M -n 2 $H sort -q{lines} {kind}0.gz -o out")

    def test_damage_is_found(self):
        expected = self.prepare(3000)["l"]
        for ending, tool in TOOLS.items():
            self.expect(b"", f"cat l0 l1 l2 | {tool} >good")
            good = self.read("good")
            for cut in (len(good) - 1, DRAW.randrange(20, len(good) - 1)):
                self.write("bad", good[:cut])
                if "parts" not in ending or cut == len(good) - 1:
                    self.refused(["decompress bad: ", "data at offset", "ends before"], "$H sort -q --lines bad -o out")
                    self.refused(["decompress standard input: "], "$H sort -q --lines <bad -o out")
            for _ in range(8):
                at = DRAW.randrange(len(good))
                self.write("bad", good[:at] + bytes([good[at] ^ 1 << DRAW.randrange(8)]) + good[at + 1:])
                outcome = self.shell("$H sort -q --lines bad")
                if ending in ("fast.zst", "blocks.lz4") or at < 10:
                    continue  # without checksums, or no longer of this format
                harmless = outcome.returncode == 0 and outcome.stdout == expected
                self.assertTrue(harmless or (outcome.returncode == 2 and outcome.stdout == b""),
                                f"seed {SEED}: byte {at} of {ending}: exit {outcome.returncode}, {outcome.stderr}")
            self.write("bad", good + b"no data")
            self.refused(["decompress bad: ", "data at offset"], "$H sort -q --lines bad -o out")
        self.expect(expected, "cat l0 l1 l2 | gzip -c >padded; head -c 9000 /dev/zero >>padded; $H sort -q --lines padded")

    def test_what_cannot_be_is_one_error(self):
        self.prepare(100)
        self.expect(b"", "gzip -k l0")
        for words, texts in (("--decompress no l0.gz", ["this is gzip data", "gzip -dc FILE |"]),
                             ("--decompress no <(cat l0.gz)", ["this is gzip data"]),
                             ("--decompress never l0", ["--decompress", "auto, no"]),
                             ("--compress bzip2 l0", ["--compress", "bzip2"]),
                             ("--compress zstd:0 l0", ["--compress zstd", "1 to 19"]),
                             ("--compress gzip:9 l0", ["--compress gzip", "1 to 3"]),
                             ("--compress no:1 l0", ["only gzip, zstd and lz4 have levels"]),
                             ("--compress gzip --verify-output l0", ["cannot be read back"]),
                             ("--verify-output -o out.gz l0", ["cannot be read back"]),
                             ("-o out.gz l0 -o out2.gz", ["compressed OUTPUT"])):
            self.refused(texts, f"$H sort -q --lines {words} -o out" if "-o" not in words else f"$H sort -q --lines {words}")
        self.refused(["No space left"], "$H sort -q --lines l0 --compress zstd >/dev/full")


if __name__ == "__main__":
    unittest.main()
