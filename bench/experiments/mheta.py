# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Iterative programs over the spectrum of distributions, predicted and measured (Nakazawa 2005, section 6.2)."""
import json
import os
import random
import statistics
import subprocess

import measure as machine
from lab.system import LabError

from . import samples
from .samples import Bar
from .stage import TOP, stage

NAME, ROUNDS, RECORDS = "mheta", 3, 6144
TITLE = "Iterative programs over the spectrum of distributions: predicted and measured"
ITERATE = os.path.join(TOP, "build", "release", "bench", "research", "programs", "iterate")
HETSORT = os.path.join(TOP, "build", "release", "hetsort")
MIB = 1 << 20
MEAN, WORST = 0.97, 0.88  # accuracy
PLACES = [0, 0.5, 1, 1.5, 2, 2.5, 3]  # Blk, I-C, I-C/Bal, Bal, and those between
# Rows in proportion to RECORDS, iterations, and the bytes of all rows.
PROGRAMS = {"jacobi": (1, 2, lambda rows: 16 * rows * rows), "cg": (512, 3, lambda rows: 88 * rows),
            "lanczos": (0.75, 1, lambda rows: 8 * rows * rows), "rna": (1.5, 2, lambda rows: 8 * rows * rows)}
LABORATORY = "lab-mheta.toml"
UNEQUAL, EQUAL = [80, 160, 120, 120], [120] * 4  # processors in millions of elements a second
FAST, SLOW = 800, 200  # disks in MB/s
# Table 6.1 with four hosts: processors, parts of the program's bytes that each host's memory holds (0 = all), disks.
SETUPS = {"DC": (UNEQUAL, [0, 0, 0, 0], [FAST] * 4),
          "IO": (EQUAL, [0, 0, 0.15, 0.15], [FAST, FAST, SLOW, SLOW]),
          "HY1": (UNEQUAL, [0, 0, 0.15, 0.15], [FAST] * 4),
          "HY2": (UNEQUAL, [0.2, 0.2, 0.2, 0.6], [FAST, FAST, SLOW, FAST]),
          "HY3": (UNEQUAL, [0.15, 0, 0.15, 0.2], [SLOW, FAST, FAST, SLOW])}
RANDOM_SETUPS = 12  # the thesis has as many others and does not describe them


def _random_setups():
    draw = random.Random(2005)
    for number in range(1, RANDOM_SETUPS + 1):
        memory = [draw.choice([0, 0.15, 0.3]) for _ in range(4)]
        yield f"R{number}", (draw.choice([UNEQUAL, EQUAL]), memory, [draw.choice([FAST, SLOW]) for _ in range(4)])


SETUPS.update(_random_setups())
PARTS = list(SETUPS)

TABLE = "\n".join(f"| {name} | {' '.join(map(str, processors))} | {' '.join(map(str, memory))} | {' '.join(map(str, disks))} |"
                  for name, (processors, memory, disks) in SETUPS.items())
ABOUT = f"""
**What is measured.** Jacobi, CG, Lanczos and RNA (bench/research/programs) on four hosts, in seventeen set-ups: DC, IO, HY1, HY2 and
HY3 are like those of tables 6.1 and 6.2, and R1 to R{RANDOM_SETUPS} draw memory, disks and processors of the hosts at random. The first
three programs also run with prefetching where a host's memory does not hold its arrays. Five instrumented iterations with equal
blocks give the costs: seconds of computing, of reading and of writing. From these, `hetsort plan --program` predicts the seconds of
each distribution, and the program then runs with its shares. Memory is the number of bytes that a program may use for its arrays.
Rates of disks and processors are emulated by waiting, so that equal work takes equal time, as on the nodes of the thesis. A
contender is a place on the line of figure 6.1: 0 = Blk, 1 = I-C, 2 = I-C/Bal, 3 = Bal. Places with the same shares run once in a
round.

| set-up | processors, million elements a second | memory, part of the arrays (0 = all) | disks, MB/s |
|---|---|---|---|
{TABLE}

**Error.** The difference of predicted and measured seconds over the smaller of both, as in the thesis; the measured seconds of a
place are the median of its rounds. Accuracy is 1 - error.
"""
HOW_TO_READ = """
**How to read it.** Seconds are those of all iterations, as the program prints them. A contender is a place on the line, and
"records per rank" are its rows. A first iteration of each run is not timed.
"""
NOT_MEASURED = """
**What is not measured.** The thesis has eight hosts, more iterations (100, 10, 5 and 10), and other set-ups than R1 to R12.
Set-ups without tables below were not run.
"""


def _millions(numbers):
    return ",".join(str(number * 1000 * 1000) for number in numbers)


class Program:
    """A program on the hosts of a lab, after its instrumented iteration."""

    def __init__(self, lab, name, setup, prefetch, scale):
        self._lab, self._iterations = lab, PROGRAMS[name][1]
        rows = max(256, round(PROGRAMS[name][0] * scale) // 16 * 16)
        size = PROGRAMS[name][2](rows)
        processors, memory, disks = SETUPS[setup]
        self._words = [name, "--rows", str(rows), "--iterations", str(self._iterations), "--disk",
                       _millions(disks), "--processor", _millions(processors), "--memory",
                       ",".join(str(int(part * size) if part else 2 * size + MIB) for part in memory),
                       *(["--prefetch"] if prefetch else [])]
        self._prefix = lab.common(name)
        lab.run_other([ITERATE, *self._words, "--measure", self._prefix])

    def plan(self, place):
        words = ["plan", "--program", f"{self._prefix}-program.toml", "--cluster", f"{self._prefix}-cluster.toml",
                 "--strategy", f"spectrum:{place}", "--format", "json"]
        done = subprocess.run([HETSORT, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode:
            raise LabError(done.stderr.strip())
        plan = json.loads(done.stdout)
        return plan["program"]["seconds"], [node["records"] for node in plan["nodes"]]

    def once(self, predicted, shares):
        words = [ITERATE, *self._words, "--shares", ",".join(map(str, shares))]
        seconds = json.loads(self._lab.run_other(words))["seconds"]
        ranks = [{"input_records": rows, "output_records": rows, "phases": []} for rows in shares]
        return {"seconds": seconds, "predicted_seconds": predicted, "ranks": ranks}


def _contenders(program):
    found, seen = {}, []
    for place in PLACES:
        predicted, shares = program.plan(place)
        if shares not in seen:
            seen.append(shares)
            found[f"{place:g}"] = lambda predicted=predicted, shares=shares: program.once(predicted, shares)
    return found


def measure(options):
    for setup in [options.part] if options.part else PARTS:
        with stage(LABORATORY, options.records, options.burners) as lab:
            for name in PROGRAMS:
                for prefetch in (False, True) if name != "rna" and any(SETUPS[setup][1]) else (False,):
                    program = Program(lab, name, setup, prefetch, options.records)
                    title = f"{setup}: {name}{', prefetching' if prefetch else ''}"
                    yield {**lab.rounds(title, _contenders(program), options.rounds, options.records), "commands": {}}


def errors(setting):
    """The error of each place."""
    found = []
    for name, reports in setting["reports"].items():
        measured, predicted = statistics.median(samples.seconds(setting, name)), reports[0]["predicted_seconds"]
        found.append(abs(measured - predicted) / min(measured, predicted))
    return found


def _of(settings, word):
    return [error for one in settings if word in one["title"] for error in errors(one)]


def bars(settings):
    every = _of(settings, "")
    mean, worst = 1 - statistics.mean(every), 1 - max(every)
    return [Bar("mean accuracy", f"{mean:.1%}", f">= {MEAN:.0%}", mean >= MEAN),
            Bar("worst accuracy", f"{worst:.1%}", f">= {WORST:.0%}", worst >= WORST)]


def beside_the_paper(settings):
    paper = {"jacobi": "98 %", "cg": "worst 88 %", "lanczos": "98 %", "rna": "best of all", "prefetching": "98 %"}
    rows = [[f"{word}: minimum, mean, maximum error", paper[word], ", ".join(f"{number:.1%}" for number in
             (min(found), statistics.mean(found), max(found)))] for word in paper if (found := _of(settings, word))]
    for title, text in (("DC: rna", "almost 4"), ("HY1: lanczos", "almost 3")):
        for one in settings:
            if one["title"] == title:
                times = [samples.lower_quartile(one, name) for name in one["reports"]]
                rows.append([f"{title}: worst / best distribution", text, f"{max(times) / min(times):.2f}"])
    for one in settings:
        if one["title"] == "HY1: jacobi":
            best = min(one["reports"], key=lambda name: machine.lower_quartile(samples.seconds(one, name)))
            rows.append(["HY1: jacobi: best place", "between 2 and 3", best])
    return rows
