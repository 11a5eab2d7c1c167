# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Very unequal hosts: processors 1:2:4:8 and 1:1:1:10. What planning is worth there, and how near auto comes to it."""
from . import samples
from .stage import stage

NAME, ROUNDS, RECORDS = "unequal", 8, 4_000_000
TITLE = "Very unequal hosts: 1:2:4:8 and 1:1:1:10"
# The file, and times how many records: without narrow links a run is short.
SETTINGS = {"1:2:4:8": ("lab-1248.toml", 1), "1:1:1:10": ("lab-11110.toml", 2.5)}
EQUAL, PROPORTIONAL, PLANNED, CALIBRATED, AUTO = "equal", "proportional", "planned", "calibrated", "auto"

ABOUT = """
**What is measured.** Records on the hosts' own disks in the shares of each strategy. "Planned" is `lambert` with the
probe's speeds, "calibrated" `threshold` with the cluster file that `hetsort calibrate` wrote on these hosts; it foretells whole
sorts, so that this contender syncs its output, as no other does. What it foretells is judged three times: calibrate, and
runs straight after it. `auto` is told nothing; its input lies as planned.
"""
NOT_MEASURED = """
**What is not measured.** Reading at the rates of lab-1248.toml: inputs are in the page cache. Writing at them where control
groups are of version 1, which throttles direct I/O only. Outputs are not synced.
"""


def _settings(title, file, records, options):
    with stage(file, records, options.burners) as lab:
        given = ["--speeds", ",".join(f"{speed:.3f}" for speed in lab.probe())]
        ways = {EQUAL: ["--strategy", "equal"], PROPORTIONAL: ["--strategy", "proportional", *given],
                PLANNED: ["--strategy", "lambert", *given]}
        source = {name: lab.generate(lab.own(f"in-{name}"), *way) for name, way in ways.items()}
        contenders = {name: lab.sort(source[name], *way) for name, way in ways.items()}
        foretold, contenders[CALIBRATED] = lab.foretold(title, options.rounds)
        contenders[AUTO] = lab.sort(source[PLANNED], "--strategy", "auto")
        return [lab.compare(title, contenders, options.rounds), foretold]


def measure(options):
    found = []
    for title, (file, times) in SETTINGS.items():
        found += _settings(title, file, int(times * options.records), options)
    return found


def bars(settings):
    found = []
    for one, foretold in zip(settings[::2], settings[1::2]):
        found += [samples.apart_bar(one, name, phase) for name in (PLANNED, AUTO)
                  for phase in (samples.FORMED, samples.MERGED)]
        found += [samples.best_bar(one, AUTO, [PROPORTIONAL, PLANNED]), *samples.calibration_bars(foretold)]
    return found


def beside_the_paper(_settings):
    return []
