# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Random CSV files against Python's csv module, in every way of reading and writing, and CSV that is malformed.

HETSORT_TEST_SEED draws other files, HETSORT_TEST_SETS draws more."""
import csv
import io
import os
import random
import unittest

from shell_case import PROGRAM, SEED, ShellCase

SETS = int(os.environ.get("HETSORT_TEST_SETS", "150"))
MARK = b"\xef\xbb\xbf"
ENDS = ["\n", "\r\n"]


class File:
    """A CSV file: its header, and its rows as bytes and as values."""

    def __init__(self, draw, rows, columns=None, end=None):
        self.draw = draw
        self.separator = draw.choice(",,,;\t|")
        self.columns = columns or draw.randrange(1, 6)
        self.end = end or draw.choice(ENDS)
        self.texts = draw.choice([["a", "b"], ["", "x", "\n", '"', self.separator, "\r\n", "y z"],
                                  ["\n"] * 30 + ["q"], ["\t", "é", "\U0010ffff", "A", " ", "'", "\x7f"]])
        self.names = [f"c{number}" + draw.choice(["", " x", '"', self.separator, "\n"]) for number in range(self.columns)]
        self.rows = [self.row([self.value(column) for column in range(self.columns)]) for _ in range(rows)]
        self.mark = draw.choice([b"", b"", MARK])
        self.header = self.mark + self.row(self.names)[0]
        body = b"".join(row for row, _ in self.rows)
        self.lacks_end = bool(rows) and draw.random() < 0.2 and self.rows[-1][0] != self.end.encode()
        self.body = body[:-len(self.end)] if self.lacks_end else body

    def value(self, column):
        if column % 2 == 0:
            return self.draw.choice(["", str(self.draw.randrange(-50, 50)), f"{self.draw.randrange(1000)}.5"])
        return "".join(self.draw.choice(self.texts) for _ in range(self.draw.randrange(0, self.draw.choice([2, 4, 30]))))

    def row(self, values):
        fields = []
        for value in values:
            special = any(c in value for c in '"\r\n' + self.separator)
            quoted = special or self.draw.random() < 0.2
            fields.append('"' + value.replace('"', '""') + '"' if quoted else value)
        return (self.separator.join(fields) + self.end).encode(), values


class Key:
    """A random key of a file: as an option, and as a function of a row's values."""

    def __init__(self, draw, file):
        self.column = draw.randrange(file.columns)
        self.numeric = self.column % 2 == 0 and draw.random() < 0.7
        self.reverse = draw.random() < 0.4
        letters = ("n" if self.numeric else "") + ("r" if self.reverse else "")
        by_name = draw.random() < 0.5
        self.option = file.names[self.column] + ":" + letters if by_name else f"{self.column + 1}{letters}"

    def order(self, rows, empty_first):
        def value(row):
            return float(row[1][self.column]) if self.numeric else row[1][self.column].encode()
        full = sorted((row for row in rows if row[1][self.column]), key=value, reverse=self.reverse)
        if self.reverse:  # equal rows keep their order
            full = [row for row in sorted((row for row in reversed(rows) if row[1][self.column]), key=value)][::-1]
        empty = [row for row in rows if not row[1][self.column]]
        return empty + full if empty_first else full + empty


class CsvTest(ShellCase):
    def test_random_files_are_sorted_as_their_values_are(self):
        for number in range(SETS):
            draw = random.Random(f"{SEED} {number}")
            file = File(draw, draw.choice([0, 1, 2, 10, 100]))
            parsed = list(csv.reader(io.StringIO((file.header[len(file.mark):] + file.body).decode(), newline=""),
                                     delimiter=file.separator))
            self.assertEqual([row or [""] for row in parsed], [file.names] + [values for _, values in file.rows],
                             f"seed {SEED}, set {number}: the test writes another file")
            if file.lacks_end:  # the last row gets a newline, as a line does
                file.rows[-1] = (file.rows[-1][0][:-len(file.end)] + b"\n", file.rows[-1][1])
            has_header = draw.random() < 0.8
            rows = file.rows if has_header else [(file.header[len(file.mark):], file.names)] + file.rows
            keys = [Key(draw, file) for _ in range(draw.randrange(1, 3))]
            if not has_header:
                keys = [key for key in keys if key.option[0].isdigit() and not key.numeric]
            empty_first = draw.random() < 0.3
            expected = list(rows)
            for key in reversed(keys):
                expected = key.order(expected, empty_first)
            if not keys:
                expected = sorted(rows, key=lambda row: row[0][:-1].replace(b"\n", b"\0"))
            self.write("in", file.header + file.body)
            words = [PROGRAM, "sort", "-q", "--csv", "-t", file.separator] + [w for key in keys for w in ("-k", key.option)]
            words += ["--empty", "first"] if empty_first else []
            words += [] if has_header else ["--header-lines", "0"]
            words += draw.choice([[], ["-S", "1M"], ["-j", "1"]])
            piped = draw.random() < 0.3
            if piped:
                outcome = self.run_in(*words, input=file.header + file.body)
            else:
                outcome = self.run_in(*words, "in")
            what = f"seed {SEED}, set {number}: {words} {'<' if piped else ''}: {outcome.stderr.decode()}"
            self.assertEqual(outcome.returncode, 0, what)
            found = outcome.stdout
            wanted = (file.header if has_header else file.mark) + b"".join(row for row, _ in expected)
            self.assertTrue(found == wanted, what)

    def prepare(self, end="\n"):
        """Three inputs with the same header, whose rows have many newlines within quotes, and all rows in order."""
        draw = random.Random(f"{SEED} {end}")
        header = b'"n 1",text,"la""st\n1"' + end.encode()
        rows = []
        for number, count in enumerate((9000, 1, 12000)):
            part = []
            for _ in range(count):
                text = "".join(draw.choice(["\n", "\r\n", '""', ",", "x", "some words"]) for _ in range(draw.randrange(9)))
                quoted = '"' + (text * draw.randrange(1, 20) if draw.random() < 0.1 else text) + '"'
                part.append((draw.randrange(-500, 500), f"{len(rows) + len(part)}"))
                part[-1] += (f'{part[-1][0]},{quoted},"{part[-1][1]}"{end}'.encode(),)
            self.write(f"in{number}", (MARK if number == 1 else b"") + header + b"".join(row for _, _, row in part))
            rows += part
        # Rows with equal keys keep their order.
        return header, [row for _, _, row in sorted(rows, key=lambda row: row[0])], rows

    def test_large_files_are_sorted_however_they_are_read_and_written(self):
        for end in ENDS:
            header, ordered, rows = self.prepare(end)
            expected = header + b"".join(ordered)
            for memory in ("", "-S 1M ", "-S 4M -j 3 "):
                sort = f"$H sort -q {memory}--csv -k 'n 1:n' "
                self.expect(expected, sort + "in0 in1 in2 -o out")
                self.expect(expected, sort + "in0 in1 in2", None)
                self.expect(expected, sort + "-k text:b --verify-output in0 in1 in2 -o out >/dev/null; "
                            + sort + "in0 in1 in2 -o out --verify-output")
                self.expect(expected, "cat in0 | " + sort + "- in1 in2 -o out")
                self.expect(expected, sort + "in0 <(cat in1) in2 -o out")
                self.expect(expected, sort + "<(cat in0) in1 <(cat in2)", None)
            self.expect(expected, sort + f"in0 in1 in2 -o a -o b && (cat a; tail -c +{len(header) + 1} b) >out")
            self.expect(expected, "for i in 0 1 2; do " + sort + "in$i -o s$i; done; " + sort + "-m s0 s1 s2 -o out")
            self.expect(expected, sort + "-m <(cat s0) s1 <(cat s2)", None)
            self.expect(expected, sort + "-S 1M s0 s1 s2 -o out")  # stretches in order are merged as they are
            self.expect(b"", sort + "-c s0 && cat s2 | " + sort + "-c", None)
            first = {}
            for number, _, row in rows:
                first.setdefault(number, row)
            self.expect(header + b"".join(first[number] for number in sorted(first)), sort + "-u in0 in1 in2 -o out")
            last = sorted(rows, key=lambda row: int(row[1]), reverse=True)
            self.expect(header + b"".join(row for _, _, row in last), "$H sort -q -S 1M --csv -k 3nr in0 in1 in2 -o out")
            # An input that is in reverse order is read from its end.
            self.expect(expected, sort + "-r s0 s1 s2 -o r0 && " + sort + "-s r0 -o out; " + sort + "in0 in1 in2 -o out")

    def test_ranks_share_inputs_at_ends_of_rows(self):
        for number, end in enumerate(ENDS * 2):
            header, ordered, rows = self.prepare(end)
            expected = header + b"".join(ordered)
            sort = f"$M -n {1 + number} $H sort -q -S {'4M' if number % 2 else '64M'} --csv -k 'n 1:n' "
            self.expect(expected, sort + "in0 in1 in2 -o out")
            self.expect(expected, sort + "--root-input in0 in1 in2 -o out")
            self.expect(expected, sort + "in0 in1 in2", None)
            self.expect(expected, f"cat in0 >all; tail -c +{len(header) + 4} in1 >>all; tail -c +{len(header) + 1} in2 >>all; "
                        + sort + f"--records {len(rows)} -o out <all")
            first = {}
            for key, _, row in rows:
                first.setdefault(key, row)
            self.expect(header + b"".join(first[key] for key in sorted(first)), sort + "-u in0 in1 in2", None)
        header, ordered, _ = self.prepare("\n")
        self.expect(header + b"".join(ordered), "$M -n 3 $H sort -q --csv -k 'n 1:n' 'in{rank}' -o 'out{rank}' && "
                    f"(cat out0; tail -c +{len(header) + 1} out1; tail -c +{len(header) + 1} out2) >out")

    def test_what_is_malformed_is_one_error(self):
        self.write("good", b'a,b\n1,2\n')
        self.write("other", b'a,c\n1,2\n')
        self.write("twice", b'a,a\n1,2\n')
        many = b"".join(b'%d,"x\ny"\n' % row for row in range(300000))
        for text, message in ((b'1,"x\ny"\n2,"z\n\n', "line 4: the quoted field that begins here does not end"),
                              (b'1,"x\ny"z\n2,z\n', "line 3: text behind the closing quote of a field that begins in line 2"),
                              (b'1,"x"\rz\n2,z\n', "line 2: text behind the closing quote"),
                              (b'1,x"y"\n2,z\n', "line 2: a quote within a field that does not begin with one"),
                              (b'1,"x\ny"\n\n\r\n2\n3,4\n', "line 6: the row has 1 field, and field 2 is a key"),
                              (b'1,2\n3', "line 3: the row has 1 field, and field 2 is a key"),
                              (b'1,2\0\n', "line 2: a zero byte, which CSV does not have")):
            for front, lines in ((b"", 0), (many, 600000)):
                number = message.split(":")[0].split()[1]
                wanted = message.replace("line " + number, f"line {int(number) + lines}")
                wanted = wanted.replace("in line 2", f"in line {2 + lines}")
                self.write("bad", b"a,b\n" + front + text)
                runs = ["$H sort --csv -k b bad -o out", "cat bad | $H sort --csv -k b -S 2M -o out"]
                for command in runs if front else runs + ["$M -n 3 $H sort --csv -k b bad -o out", "$H sort --csv -k b -c bad"]:
                    outcome = self.shell(command)
                    self.assertEqual(outcome.returncode, 2, outcome.stderr)
                    self.assertIn(wanted, outcome.stderr.decode(), command)
                    self.assertEqual(outcome.stderr.count(b"hetsort: "), 1, outcome.stderr)
                    self.assertFalse(os.path.exists(self.path("out")), command)
        for words, message in (("--csv -k b good other", "read other: its header differs from that of good"),
                               ("--csv -k b good <(cat other)", "its header differs from that of good"),
                               ("--csv -k a twice", "twice: several columns are named 'a': give the number of one"),
                               ("--csv -k c good", "good: no column is named 'c'; the columns are a, b"),
                               ("--csv -k 3 good", "good: field 3 is a key, but there are 2 columns"),
                               ("--csv --header-lines 0 -k a good", "a key that is a name needs a header, and --header-lines 0"),
                               ("--csv -k 1,2 good", "a key of CSV is one field: give fields 1 to 2 one by one"),
                               ("--csv <(printf 'a,\"b')", "the header has a quoted field that does not end"),
                               ("--csv <(yes | head -c 17000000 | tr '\\n' ' ')", "its header is longer than 16.0 MiB"),
                               ("-k a good", "-k 'a': there is no first field at 'a'"),
                               ("--csv -t '\"' good", "separate no fields of CSV"),
                               ("--lines --empty first good", "--empty is for CSV"),
                               ("--csv -z good", "--csv and -z exclude each other"),
                               ("--csv --tsv good", "--csv and --tsv exclude each other"),
                               ("--csv --record-size 4 good", "--csv is for lines: it excludes --record-size")):
            outcome = self.shell(f"$H sort {words} -o out")
            self.assertEqual(outcome.returncode, 2, (words, outcome.stderr))
            self.assertIn(message, outcome.stderr.decode(), words)
            self.assertFalse(os.path.exists(self.path("out")), words)

    def test_an_order_is_checked_by_rows(self):
        self.write("in", b'a,b\n1,"x\ny"\n3,z\n2,z\n')
        outcome = self.shell("$H sort --csv -k a:n -c in")
        self.assertEqual(outcome.returncode, 1)
        self.assertIn("check in: row 4 at offset 16 is below the row before it", outcome.stderr.decode())

    def test_fields_that_begin_with_a_quote_are_noted_without_csv(self):
        self.write("in", b'a,b\n1,"x\ny"\n')
        self.assertIn("fields begin with a quote, but -t separates fields inside of quotes, too; --csv reads such files",
                      self.shell("$H sort -t, -k1 in").stderr.decode())
        self.assertEqual(self.shell("$H sort --csv -k1 in").stderr, b"")

    def test_tabs_separate_fields_of_tsv(self):
        self.write("in", b'a\tb\n2\t"x\ty"\n1\t"z\n"\n')
        self.expect(b'a\tb\n1\t"z\n"\n2\t"x\ty"\n', "$H sort --tsv -k a:n in", None)
        self.expect(b'a\tb\n2\t"x\ty"\n1\t"z\n"\n', "$H sort --tsv -k b in -o out.gz && $H sort --tsv -k 2 out.gz", None)

    def test_words_have_the_order_of_a_list(self):
        self.write("list", b"chr1\t100\r\n\nchr2\nchr10\t80\nchr X")
        self.write("in", b"chr X\t5\nchr10\t7\nchr2\t9\nweird\t1\nodd\t1\nchr2\t3\nchr1\t4\n")
        order = [b"chr1\t4", b"chr2\t3", b"chr2\t9", b"chr10\t7", b"chr X\t5", b"odd\t1", b"weird\t1"]
        expected = b"".join(line + b"\n" for line in order)
        self.expect(expected, "$H sort --order-list list -t $'\\t' -k1,1 -k2,2n in", None)
        self.expect(expected, "$H sort --order-list list --tsv --header-lines 0 -k1 -k2n in", None)
        self.expect(expected, "$M -n 2 $H sort -q --order-list list -t $'\\t' -k1,1 -k2,2n in", None)
        self.expect(b"".join(line[:line.index(b"\t")] + b"\n" for line in order[::-1]),
                    "cut -f1 in | $H sort --order-list list -r -s", None)
        self.write("twice", b"a\n\na\tb\n")
        for words, message in (("list -k1,1n", "--order-list is the order of the first key, which can have no option"),
                               ("list -n", "--order-list is the order of the first key, which can have no option"),
                               ("twice", "--order-list twice: line 3 has 'a' a second time"),
                               ("/dev/null", "--order-list /dev/null: it has no words"), ("none", "none")):
            outcome = self.shell(f"$H sort in --order-list {words}")
            self.assertEqual(outcome.returncode, 2, words)
            self.assertIn(message, outcome.stderr.decode(), words)

    def test_empty_files_and_headers_alone_are_sorted(self):
        self.write("none", b"")
        self.write("head", MARK + b'a,"b\n"')
        self.expect(b"", "$H sort --csv -k a none", None)
        self.expect(b"", "$H sort --csv -k a </dev/null", None)
        self.expect(MARK + b'a,"b\n"\n', "$H sort --csv -k a head", None)
        self.expect(MARK + b'a,"b\n"\n', "$M -n 2 $H sort --csv -k a none head", None)
        self.expect(MARK + b"1\n2\n", "printf '\\xef\\xbb\\xbf2\\n1\\n' | $H sort --csv --header-lines 0 -k 1", None)


if __name__ == "__main__":
    unittest.main()
