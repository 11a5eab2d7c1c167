# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Whole runs where processors, links, disks or memory are unequal: every strategy, predicted and measured."""
import itertools
import statistics

from . import samples
from .samples import Bar
from .stage import stage

NAME, ROUNDS, RECORDS = "whole-run", 5, 10_000_000
TITLE = "What bounds a run: six kinds of unequal hosts"

# Title -> file, whether outputs are synced, part of the records. Hosts share one disk, which would bound every synced run.
# With unequal disks the records are fewer: the disks of many machines slow down after the first seconds.
SETTINGS = {"processors": ("lab-2006.toml", False, 1), "links of 1 Gb/s": ("lab-2006-gigabit.toml", False, 1),
            "unequal links": ("lab-links.toml", False, 1), "unequal disks": ("lab-disks.toml", True, 0.3),
            "unequal memory": ("lab-memory.toml", False, 1), "all at once": ("lab-all.toml", True, 1)}
OWN, SHARED = "own files", "shared input"
PLANNED = ["equal", "proportional", "lambert", "threshold", "phases"]  # with the cluster file; it makes `phases` the default
AUTO = "auto"  # without it: what people run who have not calibrated
AUTO_BARS = {"unequal links": 1.15, "unequal disks": 1.2}  # on shared input, quotient to phases
NEAR, FAR, CLEAR = 0.10, 0.20, 0.10

ABOUT = """
**What is measured.** Four hosts with one computing thread each. In each laboratory, `hetsort calibrate` writes a cluster file
first. Then the strategies sort in turns: equal input files on the hosts' own disks, and one file that all hosts see. Outputs
are synced where disks are unequal. `auto` is the default without any file: it measures the hosts during the sort. The others
plan with the file. Predictions are those of the run reports, by the model of a whole run (docs/run-model.md).
"""
NOT_MEASURED = """
**What is not measured.** Cold inputs: they are in the page cache. Disks of different rates, where control groups of version 1
limit direct I/O only.
"""


def _settings(title, options):
    file, sync, part = SETTINGS[title]
    with stage(file, int(part * options.records), options.burners) as lab:
        lab.probe()
        cluster, took = lab.calibrate()
        given = ["--cluster", cluster]
        inputs = {OWN: lab.generate(lab.own("in"), "--strategy", "equal"), SHARED: lab.generate(lab.common("in"))}
        for kind, source in inputs.items():
            contenders = {name: lab.sort(source, "--strategy", name, *given, sync=sync) for name in PLANNED}
            contenders[AUTO] = lab.sort(source, sync=sync)
            yield {**lab.compare(f"{title}, {kind}", contenders, options.rounds), "calibrate_seconds": [took]}


def measure(options):
    for title in SETTINGS:
        yield from _settings(title, options)


def predicted(setting, name):
    return statistics.median(report["predicted_seconds"] or 0 for report in setting["reports"][name])


def wrong_order(setting):
    """Pairs of strategies whose times differ clearly but whose predictions have the other order."""
    middle = {name: statistics.median(samples.seconds(setting, name)) for name in PLANNED}
    return [f"{fast} before {slow}" for fast, slow in itertools.permutations(middle, 2)
            if middle[slow] > (1 + CLEAR) * middle[fast] and predicted(setting, slow) < predicted(setting, fast)]


def _prediction_bars(setting):
    ratios = [statistics.median(samples.prediction_ratios(setting, name) or [0]) for name in PLANNED]
    middle, furthest = statistics.median(ratios), max(ratios, key=lambda ratio: abs(ratio - 1))
    wrong = wrong_order(setting)
    where = setting["title"]
    return [Bar(f"{where}: measured / predicted, median of the strategies", f"{middle:.2f}", f"within {NEAR:.0%}", abs(middle - 1) <= NEAR),
            Bar(f"{where}: measured / predicted, furthest", f"{furthest:.2f}", f"within {FAR:.0%}", abs(furthest - 1) <= FAR),
            Bar(f"{where}: clear differences predicted in the wrong order", ", ".join(wrong) or "none", "none", not wrong)]


def bars(settings):
    found = []
    for one in settings:
        rivals = [name for name in PLANNED if name != "phases"]
        found += [samples.best_bar(one, name, rivals, 1.03) for name in ("phases", AUTO)]
        lab, _, kind = one["title"].partition(", ")
        if kind == SHARED and lab in AUTO_BARS:
            found.append(samples.ratio_bar(one, AUTO, "phases", AUTO_BARS[lab]))
        if one["title"] == f"links of 1 Gb/s, {OWN}":
            found.append(samples.ratio_bar(one, "auto", "equal", 1.0))
        if one["title"] == f"unequal links, {SHARED}" or one["title"].startswith("unequal memory"):
            found.append(samples.ratio_bar(one, "phases", "equal", 0.85))
        found += _prediction_bars(one)
    took = max(one["calibrate_seconds"][0] for one in settings)
    return [*found, Bar("calibrate, longest", f"{took:.1f} s", "<= 20 s", took <= 20)]


def beside_the_paper(_settings):
    return []
