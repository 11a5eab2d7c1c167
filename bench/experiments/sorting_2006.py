# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Sorting on hosts of two speeds (Cerin, Dubacq and Roch 2006, section 5): equal shares, planned shares, and planned
shares with communicating threads."""
import os
import statistics

import measure as machine

from . import samples
from .stage import TOP, stage

NAME, ROUNDS, RECORDS = "sorting-2006", 10, 10_000_000
TITLE = "Sorting on hosts of two speeds, after the experiment of 2006"
FILE, LINKED_FILE = "lab-2006.toml", "lab-2006-gigabit.toml"
FREE, LINKED = "two speeds", "two speeds, links of 1 Gb/s"
EQUAL, PLANNED, THREAD = "A.1 equal, inline", "A.2 planned, inline", "A.3 planned, thread"
THREADS, PROPORTIONAL, AUTO = "A.3 with two threads", "proportional, inline", "auto, inline"
CALIBRATED = "calibrated, thread"
APART = "A.3 with a processor for communication"
PLAIN = "a plain program, links of 1 Gb/s"
BLOCKING, AT_ONCE = "A.2 blocking", "A.3 at once"
PLAIN_PROGRAM = os.path.join(TOP, "build", "release", "bench", "peers", "plain_sample_sort")
COMMUNICATING = "hetsort-comm,hetsort-send"  # the program's threads that make MPI's calls and hand blocks to them

ABOUT = f"""
**What is measured.** Four hosts, two of them 1.5 times as fast as the others, with one computing thread each. Records are on
the hosts' own disks and in the page cache. The strategy of the contender plans the shares of input and output (A.1: equal
shares). "Planned" is `lambert` with the speeds that the probe measured. A.1 and A.2 communicate in the thread that sorts
(`--exchange inline`), A.3 in a thread of its own (`--exchange thread`, the default). The paper's A.3 has two such threads, one
that sends and one that receives (`--exchange threads`). `auto` gets no speeds, and its input has the planned shares.
"Calibrated" is `auto` with the cluster file that `hetsort calibrate` wrote on these hosts. Its predictions are checked
three times, each time by runs directly after a calibration.

The first setting has this machine's own links between the hosts, which are much faster than the processors. The second has
links of 1 Gb/s, as the nodes of the paper had. Communication and computation share one quota of processor time, so that
a thread for communication helps only while the sorting thread would wait for a link. In "{APART}" this
thread and the one that hands blocks to it are outside the quota of their host, as if on the second processor that the hosts
of the paper had.

The last setting compares two forms of a textbook sample sort in memory (bench/peers/plain_sample_sort.cc) with planned shares.
"{BLOCKING}" exchanges with one rank after the other in the thread that sorts, and never sends and receives at once. The paper's
A.2 moved 8 MB/s per node on links of 125 MB/s, so that it almost certainly did the same, whereas hetsort's "{PLANNED}" always
has messages under way in both directions. "{AT_ONCE}" gives all messages to a communicating thread. The quotient of both is the
one that compares with the paper's A.3 / A.2. Seconds are those between the read input and the merged records.
"""
NOT_MEASURED = """
**What is not measured.** Disks of different rates: the hosts share one. Cold inputs; outputs are synced and bypass the page
cache, which is the default. A whole second processor per host: the communicating threads that are outside the quotas share the
cores of this machine with all hosts. 96 nodes and 54 GB.
"""


def _planned(lab):
    """A.1, A.2 and A.3, the option --speeds for these hosts, and the input of each strategy."""
    given = ["--speeds", ",".join(f"{speed:.3f}" for speed in lab.probe())]
    source = {name: lab.generate(lab.own(f"in-{name}"), "--strategy", name, *given) for name in ("equal", "lambert")}

    def contender(strategy, exchange, outside=""):
        return lab.sort(source[strategy], "--strategy", strategy, *given, "--exchange", exchange, sync=True, outside=outside)

    contenders = {EQUAL: contender("equal", "inline"), PLANNED: contender("lambert", "inline"),
                  THREAD: contender("lambert", "thread"), THREADS: contender("lambert", "threads")}
    if why := lab.without_outside():
        lab.note(f"{APART}: not measured. {why}")
    else:
        contenders[APART] = contender("lambert", "thread", COMMUNICATING)
    return contenders, given, source


def _free(options):
    with stage(FILE, options.records, options.burners) as lab:
        contenders, given, source = _planned(lab)
        proportional = ["--strategy", "proportional", *given]
        contenders[PROPORTIONAL] = lab.sort(lab.generate(lab.own("in-proportional"), *proportional), *proportional,
                                            "--exchange", "inline", sync=True)
        contenders[AUTO] = lab.sort(source["lambert"], "--strategy", "auto", "--exchange", "inline", sync=True)
        predicted, contenders[CALIBRATED] = lab.predictions(FREE, options.rounds)
        return [lab.compare(FREE, contenders, options.rounds), predicted]


def _linked(options):
    with stage(LINKED_FILE, options.records, options.burners) as lab:
        if why := lab.without_links():
            lab.note(f"{LINKED}: not measured. {why}")
            return {"title": LINKED, "notes": lab.notes, "reports": {}}
        return lab.compare(LINKED, _planned(lab)[0], options.rounds)


def _plain(options):
    with stage(LINKED_FILE, options.records, options.burners) as lab:
        if why := lab.without_links():
            lab.note(f"{PLAIN}: not measured. {why}")
            return {"title": PLAIN, "notes": lab.notes, "reports": {}}
        speeds = ",".join(f"{speed:.3f}" for speed in lab.probe())
        lab.generate(lab.common("plain-in.{rank}"), "--strategy", "lambert", "--speeds", speeds)
        command = [PLAIN_PROGRAM, lab.common("plain-in."), lab.common("plain-out."), speeds]

        def once(*words):
            seconds = float(lab.run_other([*command, *words]))
            sizes = [os.path.getsize(lab.common(f"plain-out.{rank}")) // machine.RECORD for rank in range(len(lab.names))]
            return {"seconds": seconds, "predicted_seconds": None,
                    "ranks": [{"input_records": size, "output_records": size, "phases": []} for size in sizes]}

        contenders = {BLOCKING: lambda: once("blocking"), AT_ONCE: once}
        return {**lab.rounds(PLAIN, contenders, options.rounds, options.records),
                "commands": {BLOCKING: lab.shown([*command, "blocking"]), AT_ONCE: lab.shown(command)}}


def measure(options):
    return [*_free(options), _linked(options), _plain(options)]


def bars(settings):
    free, predicted, linked = settings[:3]
    return [samples.ratio_bar(free, PLANNED, EQUAL, 0.88),
            *(samples.ratio_bar(one, name, PLANNED, 1.0) for one in (free, linked) for name in (THREAD, THREADS)),
            *(samples.finish_spread_bar(free, name, phase) for name in (PLANNED, THREAD, AUTO)
              for phase in (samples.FORMED, samples.MERGED)),
            samples.best_bar(free, AUTO, [PLANNED, PROPORTIONAL]), *samples.calibration_bars(predicted)]


def _after_forming(one, name):
    return 1 - samples.median_last(one, name, samples.FORMED) / statistics.median(samples.seconds(one, name))


def _beside(one):
    times = [samples.lower_quartile(one, name) for name in (EQUAL, PLANNED, THREAD, THREADS)]
    formed = [samples.median_last(one, name, samples.FORMED) for name in (EQUAL, PLANNED)]
    rows = [["seconds of A.1, A.2, A.3", "125.4, 112.7, 69.4", ", ".join(f"{time:.2f}" for time in times[:3])],
            ["A.2 / A.1", "0.90 (0.80 for computation alone)", f"{times[1] / times[0]:.2f}"],
            ["A.2 / A.1 until the last rank has formed its runs, which is mostly computation", "0.80", f"{formed[1] / formed[0]:.2f}"],
            ["A.3 / A.1", "0.55", f"{times[2] / times[0]:.2f}"], ["A.3 / A.2", "0.62", f"{times[2] / times[1]:.2f}"],
            ["A.3 with two threads / A.2", "0.62", f"{times[3] / times[1]:.2f}"],
            ["A.2, part of the run after the runs are formed", "60 % (communicating)", f"{_after_forming(one, PLANNED):.0%}"]]
    if APART in one["reports"]:
        rows += [[f"{APART} / A.2", "0.62", f"{samples.lower_quartile(one, APART) / times[1]:.2f}"],
                 [f"{APART}, part of the run after the runs are formed", "33 % (communicating)", f"{_after_forming(one, APART):.0%}"]]
    return [[f"{one['title']}: {what}", paper, here] for what, paper, here in rows]


def beside_the_paper(settings):
    rows = [row for one in (settings[0], settings[2]) if one["reports"] for row in _beside(one)]
    for one in settings[3:]:
        if one["reports"]:
            blocking, at_once = (samples.lower_quartile(one, name) for name in (BLOCKING, AT_ONCE))
            rows.append([f"{PLAIN}: A.3 / A.2", "0.62", f"{at_once / blocking:.2f}"])
    return rows
