# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Inputs that are not what they would be sorted as: each kind of content, given in each way to each command.

Exit code 2 with the way out, and the output is as it was; or the right result. HETSORT_TEST_SEED draws other records."""
import bz2
import gzip
import io
import lzma
import os
import random
import sqlite3
import struct
import sys
import tarfile
import tempfile
import unittest
import zipfile

from shell_case import BUILD, END_AT_ONCE, ENVIRONMENT, SEED, ShellCase

LIBRARY = {**ENVIRONMENT, "HETSORT_LIBRARY": os.path.join(BUILD, "libhetsort.so.0"),
           "PYTHONPATH": os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "lib", "python")}
DRAW = random.Random(SEED)
OLD = "old contents\n"


def noise(count):
    return DRAW.randbytes(count)


def whole(content, record=100):
    """Some bytes as a whole number of records; what follows is random, as in the formats, or more of the text."""
    return content + noise(-len(content) % record)


def repeated(text, size):
    return (text * (size // len(text) + 1))[:size]


def file_in(make):
    """What `make` writes to the path that it gets."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "made")
        make(path)
        with open(path, "rb") as file:
            return file.read()


def zipped(*members):
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w") as archive:
        for name in members:
            archive.writestr(name, noise(300))
    return into.getvalue()


def tarred():
    into = io.BytesIO()
    with tarfile.open(fileobj=into, mode="w") as archive:
        member = tarfile.TarInfo("records")
        member.size = 700
        archive.addfile(member, io.BytesIO(noise(700)))
    return into.getvalue()


def database(path):
    with sqlite3.connect(path) as connection:
        connection.execute("create table numbers(number)")
    connection.close()


#: Text: sizes that are a multiple of 100, and one that is not.
TEXTS = {
    "lines": repeated(b"pear\napple\nfig\n", 3000),
    "few lines": repeated(b"pear\napple\nfig\n", 100),
    "other size": repeated(b"pear\napple\nfig\n", 3033),
    "less than a record": b"pear\napple\nfig\n",
    "CRLF": repeated(b"pear,1\r\napple,2\r\n", 1500),
    "tabs": repeated(b"gene\t12\t0.5\t-1e-7\n", 5000),
    "JSON without newline": repeated(b'{"id": 17, "name": "x"}, ', 4900),
    "UTF-8": repeated("Größe\nsœur\nмера\n語\n".encode(), 2500),
    "Latin-1": repeated("Größe;là-bas;Übung\n".encode("latin-1"), 200),
    "Cyrillic of eight bits": repeated("мера и число\n".encode("koi8-r"), 1600),
    "records that zero bytes end": repeated(b"./docs/a.txt\0./docs/b.txt\0", 1400),
    "fields of a database": repeated(b"17\x01pear\x012.5\n", 1400),
    "a log with colours": repeated(b"\x1b[32mINFO\x1b[0m done\n", 1400)}
#: Formats with what the message must say besides the name.
FORMATS = {
    "bzip2": (whole(bz2.compress(noise(1000))), "bzip2 data", "bzip2 -dc FILE |"),
    "empty bzip2": (bz2.compress(b""), "bzip2 data", "bzip2 -dc FILE |"),
    "xz": (whole(lzma.compress(noise(1000))), "xz data", "xz -dc FILE |"),
    "zip": (whole(zipped("table.csv")), "a zip archive", "unzip -p FILE |"),
    "npz": (whole(zipped("a.npy", "b.npy")), "a zip archive", "unzip -p FILE |"),
    "7z": (b"7z\xbc\xaf\x27\x1c\0\x04" + noise(292), "a 7-Zip archive", "7z x -so FILE |"),
    "tar": (whole(tarred()), "a tar archive", "tar -xOf FILE |"),
    "Parquet": (b"PAR1\x15\x04\x15" + noise(289) + b"PAR1", "a Parquet file", "--force-format"),
    "Avro": (b"Obj\x01\x04\x14avro.codec" + noise(284), "an Avro file", "--force-format"),
    "Arrow": (b"ARROW1\0\0" + noise(292), "an Arrow file", "--force-format"),
    "HDF5": (b"\x89HDF\r\n\x1a\n" + noise(292), "an HDF5 file", "--force-format"),
    "SQLite": (whole(file_in(database)), "an SQLite database", "sqlite3 -csv FILE QUERY |"),
    "ELF": (b"\x7fELF\x02\x01\x01\0" + noise(292), "an ELF program", "--force-format"),
    "UTF-16": (repeated("Größe\nsœur\n語\n".encode("utf-16-le"), 2000).join([b"\xff\xfe", b"\n\0" * 49]), "text in UTF-16",
               "iconv -f UTF-16 -t UTF-8 FILE |")}
PYTHON = "import hetsort, sys\ntry: hetsort.sort_file({inputs}, 'out', {more})\n" \
         "except hetsort.RequestError as error: assert error.path, error\n"


class ForeignFiles(ShellCase):
    def setUp(self):
        super().setUp()
        self.records = self.in_order(noise(100 * 50))
        self.write("records", self.records)
        self.write("words", b"a\nb\n")

    def refused(self, line, content, texts, what):
        """The input `in` is refused with these texts in one message, and neither it nor any output changes."""
        for name in ("in", "in.1"):
            self.write(name, content)
        self.write("in.0", self.records if "--lines" not in line else b"a\nb\n")
        for name in ("out", "out.0", "out.1", "other"):
            self.write(name, OLD.encode())
        outcome = self.shell(line, env={**ENVIRONMENT, **END_AT_ONCE})
        message = outcome.stderr.decode(errors="replace")
        what = f"seed {SEED}: {what}: {line}: exit {outcome.returncode}, {message}"
        self.assertEqual(outcome.returncode, 2, what)
        self.assertEqual(message.count("hetsort: "), 1, what)
        for text in texts:
            self.assertIn(text, message, what)
        self.assertEqual(outcome.stdout, b"", what)
        self.assertEqual(self.read("in"), content, what)
        for name in ("out", "out.0", "out.1", "other"):
            self.assertEqual(self.read(name), OLD.encode(), what)
        self.assertEqual([name for name in os.listdir(self.folder) if "hetsort" in name], [], what)

    def sort_ways(self, options, good):
        """Lines that sort the input `in`, the only one or beside `good`, with these options."""
        sort = f"$H sort -q {options}"
        return [f"{sort} in -o out", f"{sort} in", f"{sort} in -o in", f"cat in | {sort} -o out", f"{sort} <in >/dev/null",
                f"cat in | {sort}", f"{sort} {good} in -o out", f"cat in | {sort} {good} - {good} -o out",
                f"{sort} {good} <(cat in) -o out", f"{sort} -m in -o out", f"{sort} -m {good} in", f"cat in | {sort} -m",
                f"{sort} -m {good} <(cat in) <(cat {good}) -o out", f"{sort} -u in -o out", f"{sort} in -o out -o other",
                f"{sort} --files0-from <(printf '{good}\\0in\\0') -o out", f"ulimit -n 40; {sort} {(good + ' ') * 20} in",
                f"{sort} -S 2M in -o out", f"{sort} --io buffered in -o out", f"{sort} --dry-run in -o out",
                f"$H compare -q {options} {good} in -o out --strategies equal,threshold"]

    def check_ways(self, options):
        check = f"$H sort {options}"
        return [f"{check} -c in", f"{check} -C in", f"{check} -c <in", f"cat in | {check} -C", f"{check} -c <(cat in)"]

    VALIDATE_WAYS = ["$H validate in", "$H validate -q records in", "cat in | $H validate -", "$H validate - <in",
                     "$H validate <(cat in)", "$H validate -qo other in"]

    def rank_ways(self, options, good):
        sort = f"$M -n 2 $H sort -q {options}"
        return [f"{sort} 'in.{{rank}}' -o 'out.{{rank}}'", f"{sort} {good} in -o out", f"{sort} --root-input in -o out",
                f"cat in | {sort} --records 30 -o out"]

    def test_text_is_refused_in_every_way_of_sorting(self):
        for line in self.sort_ways("", "records"):
            self.refused(line, TEXTS["lines"], ["this is text", "--lines sorts lines", "--record-size 100 sorts"], "lines")

    def test_text_is_refused_in_every_way_of_checking(self):
        for size in ("lines", "other size"):
            for line in self.check_ways(""):
                self.refused(line, TEXTS[size], ["this is text", "--lines checks lines", "--record-size 100"], size)
            for line in self.VALIDATE_WAYS:
                self.refused(line, TEXTS[size], ["this is text", "'hetsort sort -c --lines' checks lines"], size)

    def test_text_of_every_kind_is_refused(self):
        for name, text in TEXTS.items():
            for line in ("$H sort -q in -o out", "cat in | $H sort -q --key 0:4 -r", "$H sort -c in", "$H validate <in -"):
                self.refused(line, text, ["this is text"], name)

    def test_text_behind_a_header_is_refused(self):
        for line in ("$H sort -q --header 3 in -o out", "cat in | $H sort -q --header 3"):
            self.refused(line, b"\0\x01\x02" + TEXTS["lines"], ["this is text"], "header")

    def test_text_of_a_slow_writer_is_refused(self):
        self.refused("{ head -c 50 in; sleep 1.5; tail -c +51 in; } | $H sort -q -o out", TEXTS["lines"], ["text"], "slow")

    def test_formats_are_refused_as_records_and_as_lines(self):
        for name, (content, known_as, way_out) in FORMATS.items():
            for line in ("$H sort -q in -o out", "cat in | $H sort -q --lines -o out", "$H sort -q -k2n in -o in",
                         "$H sort -q --record-size 10 in -o out", "$H sort -c in", "cat in | $H sort -C --lines",
                         "$H validate in"):
                self.refused(line, content, [f"this is {known_as}", way_out], name)

    def test_a_format_is_refused_in_every_way_of_sorting_and_checking(self):
        content, known_as, way_out = FORMATS["xz"]
        for options, good in (("", "records"), ("--lines", "words")):
            for line in self.sort_ways(options, good):
                self.refused(line, content, [known_as, way_out + " hetsort sort ...' sorts"], "xz")
            for line in self.check_ways(options):
                self.refused(line, content, [known_as, way_out + " hetsort sort -c ...' checks"], "xz")
        for line in self.VALIDATE_WAYS:
            self.refused(line, content, [known_as, way_out + " hetsort validate - ...' checks"], "xz")

    def test_ranks_refuse_with_one_message(self):
        content, known_as, _ = FORMATS["xz"]
        for line in self.rank_ways("", "records"):
            self.refused(line, TEXTS["lines"], ["this is text", "--lines sorts lines"], "text on ranks")
        for line in self.rank_ways("--lines", "words"):
            self.refused(line, content, [known_as], "xz on ranks")
        for line in ("$M -n 2 $H validate -q 'in.{rank}'", "$M -n 2 $H validate records in"):
            self.refused(line, TEXTS["lines"], ["this is text"], "validate on ranks")

    def test_python_raises_a_request_error(self):
        for name, content, more in (("text", TEXTS["lines"], ""), ("xz", FORMATS["xz"][0], "record_size=10"),
                                    ("xz", FORMATS["xz"][0], "lines=True")):
            for inputs in ("'in'", "['records', 'in']"):
                self.write("in", content)
                self.write("out", OLD.encode())
                outcome = self.shell(f"$P -c \"{PYTHON.format(inputs=inputs, more=more)}else: sys.exit(3)\"", env=LIBRARY)
                self.assertEqual(outcome.returncode, 0, f"{name}, {inputs}, {more}: {outcome.stderr}")
                self.assertEqual(self.read("out"), OLD.encode())
        outcome = self.shell(f"$P -c \"import hetsort; hetsort.sort_file('in', 'out', record_size=1, force_format=True)\"", env=LIBRARY)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertEqual(self.read("out"), bytes(sorted(self.read("in"))))

    def sorted(self, line, content, expected, what):
        self.write("in", content)
        outcome = self.shell(line)
        what = f"seed {SEED}: {what}: {line}: exit {outcome.returncode}, {outcome.stderr}"
        self.assertEqual((outcome.returncode, outcome.stderr), (0, b""), what)
        self.assertEqual(outcome.stdout if expected is not None else None, expected, what)

    @staticmethod
    def in_order(content, key=slice(0, 10), record=100):
        records = [content[at:at + record] for at in range(0, len(content), record)]
        return b"".join(sorted(records, key=lambda record: record[key]))

    def test_who_says_what_it_is_gets_it_sorted(self):
        text = TEXTS["lines"]
        lines = b"".join(sorted(text.splitlines(keepends=True)))
        for prefix, name in (("", "in"), ("cat in | ", "")):
            self.sorted(f"{prefix}$H sort -q --lines {name}", text, lines, "lines")
            for option in ("--record-size 100", "--force-format"):
                self.sorted(f"{prefix}$H sort -q {option} {name}", text, self.in_order(text), "text as records")
            for kind, (content, _, _) in FORMATS.items():
                if len(content) % 100 == 0:
                    self.sorted(f"{prefix}$H sort -q --force-format {name}", content, self.in_order(content), kind)
            content = gzip.compress(noise(1000)).rstrip(b"\n") + b"\n"
            by_line = b"".join(sorted(line + b"\n" for line in content[:-1].split(b"\n")))
            self.sorted(f"{prefix}$H sort -q --lines --force-format {name}", content, by_line, "gzip data as lines")

    def test_records_that_are_no_text_are_sorted(self):
        self.shell("for k in uniform sorted reverse equal few:3 zipf:1.2; do $H gen -q --keys $k 300 b.$k; "
                   "$H gen -q -a --keys $k 300 a.$k; done; $H gen -q -s 300 b.s; $H gen -q -a -s 300 a.s; "
                   "$H gen -q -a -b 99999999999999999999999 300 a.high; $H gen -q -a 1 a.one; $H gen -q 1 b.one")
        contents = {name: self.read(name) for name in os.listdir(self.folder) if name[:2] in ("a.", "b.")}
        self.assertEqual(len(contents), 17)
        contents.update({"zeros": bytes(1000), "ones": b"\xff" * 1000, "random": noise(5000), "nothing": b"",
                         "one record": noise(100), "small numbers": struct.pack("<200i", *range(200, 0, -1)) * 2,
                         "two bytes of gzip": b"\x1f\x8b" + noise(98), "three bytes of bzip2": b"BZh" + noise(97)})
        for name, content in contents.items():
            expected = self.in_order(content)
            self.sorted("$H sort -q in", content, expected, name)
            self.sorted("cat in | $H sort -q", content, expected, name)
            self.sorted("$H sort -c in -q; $H validate -q in", expected, b"", name)
        for line in ("$H sort -q -t, -k1 in", "cat in | $H sort -q -t, -k1"):
            self.sorted(line, b"PAR1,gene\nBZh9\nustar\nPK\n", b"BZh9\nPAR1,gene\nPK\nustar\n", "lines like signatures")

    def test_fields_that_begin_with_quotes_are_noted(self):
        note = b"hetsort: note: %s: fields begin with a quote"
        for text in (b'"b, c",1\na,2\n', b'1,"b, c"\n2,a\n'):
            self.write("in", text)
            for line, name in (("$H sort -t, -k2 in -o out", b"in"), ("cat in | $H sort -t, -k2 -o out", b"standard input"),
                               ("$H sort -t, -k2 words in in -o out", b"in"), ("$H sort -c -t, -k2 in", b"in"),
                               ("$H compare -t, in -o out --strategies equal,threshold >/dev/null", b"in")):
                message = self.shell(line).stderr
                self.assertEqual(message.count(note % name), 1, f"{line}: {message}")
            for line in ("$H sort -q -t, -k2 in -o out", "$H sort -k2 in -o out", "$H sort -C -t, in",
                         "$H sort -t\\; -k2 words in -o out" if text[:1] == b"1" else "$H sort --lines in -o out"):
                self.assertNotIn(b"quote", self.shell(line).stderr, line)

    def test_files_that_report_another_size_are_sorted_as_sort_does(self):
        for path in ("/sys/devices/system/cpu/online", "/proc/filesystems"):
            expected = self.run_in("sort", path)
            for line in (f"$H sort -q --lines {path}", f"$H sort -q --lines words {path} | grep -vx [ab]"):
                self.sorted(line, b"", expected.stdout, path)
            outcome = self.shell(f"$H sort --record-size 1 {path} -o out && $H validate -q --record-size 1 out {path}")
            self.assertIn(outcome.returncode, (0, 1), outcome.stderr)


if __name__ == "__main__":
    unittest.main()
