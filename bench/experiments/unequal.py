# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Very unequal hosts: processors 1:2:4:8 and 1:1:1:10. The gain by planning, and how close auto comes to it."""
from . import samples
from .stage import stage

NAME, ROUNDS, RECORDS = "unequal", 8, 4_000_000
TITLE = "Very unequal hosts: 1:2:4:8 and 1:1:1:10"
# The file, and a factor for the number of records: without narrow links a run is short.
SETTINGS = {"1:2:4:8": ("lab-1248.toml", 1), "1:1:1:10": ("lab-11110.toml", 2.5)}
EQUAL, PROPORTIONAL, PLANNED, CALIBRATED, AUTO = "equal", "proportional", "planned", "calibrated", "auto"

ABOUT = """
**What is measured.** Records on the hosts' own disks, in the shares of each strategy. "Planned" is `lambert` with the speeds of
the probe. "Calibrated" is `auto` with the cluster file that `hetsort calibrate` wrote on these hosts. The file predicts
whole sorts, so that only this contender syncs its output. Its predictions are checked three times, each time by runs directly
after a calibration. `auto` gets no speeds, and its input has the planned shares.
"""
NOT_MEASURED = """
**What is not measured.** Disks at the rates of lab-1248.toml. Inputs are in the page cache, and version 1 of control groups
limits direct I/O only. Outputs are not synced.
"""


def _settings(title, file, records, options):
    with stage(file, records, options.burners) as lab:
        given = ["--speeds", ",".join(f"{speed:.3f}" for speed in lab.probe())]
        ways = {EQUAL: ["--strategy", "equal"], PROPORTIONAL: ["--strategy", "proportional", *given],
                PLANNED: ["--strategy", "lambert", *given]}
        source = {name: lab.generate(lab.own(f"in-{name}"), *way) for name, way in ways.items()}
        contenders = {name: lab.sort(source[name], *way) for name, way in ways.items()}
        predicted, contenders[CALIBRATED] = lab.predictions(title, options.rounds)
        contenders[AUTO] = lab.sort(source[PLANNED], "--strategy", "auto")
        return [lab.compare(title, contenders, options.rounds), predicted]


def measure(options):
    found = []
    for title, (file, times) in SETTINGS.items():
        found += _settings(title, file, int(times * options.records), options)
    return found


def bars(settings):
    found = []
    for one, predicted in zip(settings[::2], settings[1::2]):
        found += [samples.finish_spread_bar(one, name, phase) for name in (PLANNED, AUTO)
                  for phase in (samples.FORMED, samples.MERGED)]
        found += [samples.best_bar(one, AUTO, [PROPORTIONAL, PLANNED]), *samples.calibration_bars(predicted)]
    return found


def beside_the_paper(_settings):
    return []
