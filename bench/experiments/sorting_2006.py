# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Sorting on hosts of two speeds (Cerin, Dubacq and Roch 2006, section 5): equal shares, planned shares, and planned
shares with communicating threads."""
from . import samples
from .stage import stage

NAME, ROUNDS, RECORDS = "sorting-2006", 10, 10_000_000
TITLE = "Sorting on hosts of two speeds, after the experiment of 2006"
FILE = "lab-2006.toml"
EQUAL, PLANNED, THREAD = "A.1 equal, inline", "A.2 planned, inline", "A.3 planned, thread"
THREADS, PROPORTIONAL, AUTO = "A.3 with two threads", "proportional, inline", "auto, inline"
CALIBRATED = "calibrated, thread"

ABOUT = """
**What is measured.** Four hosts, two of them 1.5 times as fast as the others. Records are on the hosts' own disks, in the
shares that the contender's strategy plans (A.1: equal ones), and stay in the page cache; output shares are those of the
same strategy. "Planned" is `lambert` with the speeds that the probe measured. A.1 and A.2 communicate in the thread that
sorts (`--exchange inline`), A.3 in a thread of its own (`--exchange thread`, what hetsort does unless told otherwise). With
two threads, one that sends and one that receives (`--exchange threads`), is how the paper had it. `auto` is told no speeds;
its input lies as planned. "Calibrated" is `threshold` with the cluster file that `hetsort calibrate` wrote on these hosts
before; it foretells whole sorts, so that this contender syncs its output, as no other does. What it foretold is judged by
runs straight after calibrate. One computing thread a host.
"""
NOT_MEASURED = """
**What is not measured.** Disks: the hosts share one, so outputs are not synced and inputs are not cold. A second processor
a host: a quota bounds all threads of a host together, so a communicating thread takes from the sorting one what it uses,
whereas the paper's hosts had a processor to spare for it. 96 nodes and 54 GB.
"""


def measure(options):
    with stage(FILE, options.records, options.burners) as lab:
        given = ["--speeds", ",".join(f"{speed:.3f}" for speed in lab.probe())]
        source = {name: lab.generate(lab.own(f"in-{name}"), "--strategy", name, *given)
                  for name in ("equal", "lambert", "proportional")}

        def planned(strategy, exchange):
            return lab.sort(source[strategy], "--strategy", strategy, *given, "--exchange", exchange)

        cluster = ["--cluster", lab.calibrate()]
        source[CALIBRATED] = lab.generate(lab.own("in-calibrated"), *cluster)
        calibrated = lab.sort(source[CALIBRATED], *cluster, sync=True)
        foretold = lab.foretold("two speeds", CALIBRATED, calibrated, options.rounds)
        contenders = {EQUAL: planned("equal", "inline"), PLANNED: planned("lambert", "inline"),
                      THREAD: planned("lambert", "thread"), THREADS: planned("lambert", "threads"),
                      PROPORTIONAL: planned("proportional", "inline"),
                      AUTO: lab.sort(source["lambert"], "--strategy", "auto", "--exchange", "inline"),
                      CALIBRATED: calibrated}
        return [lab.compare("two speeds", contenders, options.rounds), foretold]


def bars(settings):
    one, foretold = settings
    return [samples.ratio_bar(one, PLANNED, EQUAL, 0.88), samples.ratio_bar(one, THREAD, PLANNED, 1.0),
            samples.ratio_bar(one, THREADS, PLANNED, 1.0),
            *(samples.apart_bar(one, name, phase) for name in (PLANNED, THREAD, AUTO)
              for phase in (samples.FORMED, samples.MERGED)),
            samples.best_bar(one, AUTO, [PLANNED, PROPORTIONAL]), samples.foretold_bar(foretold, CALIBRATED)]


def beside_the_paper(settings):
    one = settings[0]
    times = [samples.lower_quartile(one, name) for name in (EQUAL, PLANNED, THREAD, THREADS)]
    formed = [samples.median_last(one, name, samples.FORMED) for name in (EQUAL, PLANNED)]
    return [["seconds of A.1, A.2, A.3", "125.4, 112.7, 69.4", ", ".join(f"{time:.2f}" for time in times[:3])],
            ["A.2 / A.1", "0.90 (0.80 where computing is all)", f"{times[1] / times[0]:.2f}"],
            ["A.2 / A.1 until the last has formed its runs, where computing is nearly all", "0.80", f"{formed[1] / formed[0]:.2f}"],
            ["A.3 / A.1", "0.55", f"{times[2] / times[0]:.2f}"], ["A.3 / A.2", "0.62", f"{times[2] / times[1]:.2f}"],
            ["A.3 with two threads / A.2", "0.62", f"{times[3] / times[1]:.2f}"]]
