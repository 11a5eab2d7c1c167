# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""A code for equal processes on unequal hosts (Violard, David and Schwarz): one process per host, several processes on the
faster hosts, and several processes emulated by one."""
import statistics

from . import samples
from .stage import stage

NAME, ROUNDS, RECORDS = "emulated", 5, 8_000_000
TITLE = "Equal processes on unequal hosts: one or several per host, or emulated"
FILE = "lab-1244.toml"
PROCESSES = 11  # the paper's: speeds 1, 2, 4, 4
SIZES = (("small", 32**4), ("medium", 48**4), ("large", 64**4))  # points of the paper's grid; the large one is RECORDS
PAPER = {"small": (342, 525, 301), "medium": (2005, 2223, 1874), "large": (5380, 4752, 4404)}
OVERHEAD = "overhead of emulated processes"
COUNTS = (2, 4, 8, 16, 32, 64)  # processes that two ranks emulate together; a sort emulates 64 at most
ONE, SEVERAL, EMULATED = "one process per host", "several processes per host", f"emulated:{PROCESSES}"

ABOUT = f"""
**What is measured.** Four hosts of speeds 1:2:4:4 with records on their own disks, in three sizes whose ratios are those of
the paper (1 : 5 : 16). "{ONE}" has equal shares. "{SEVERAL}" has {PROCESSES} ranks of equal shares, more of them on the faster
hosts, and the system schedules them. "{EMULATED}" has one process per host, which does the work of as many equal processes as
the measured speeds give it.

**What to expect.** With equal shares the slowest host has a quarter of the work, and as an emulated process an eleventh: work alone
explains a quotient emulated / one of 4 / 11 = 0.36. The quotient until the last rank has formed its runs, which is mostly work,
should be that. What is above or below arises afterwards, while blocks are exchanged, merged and written. Fixed costs of a sort
raise the quotient of small sorts. A lower quotient means that a record costs the slow host more if it has more of them. The
table has the quotient of both parts, and the processor seconds in which the slowest host communicates: if these do not grow
with its share, messages are not the reason.

"{OVERHEAD}": two hosts of equal speed emulate {COUNTS[0]} to {COUNTS[-1]} processes together (V), in turns. The records and the hosts are the same in
all contenders, so that quotients to the first one are the cost of more processes.
"""
NOT_MEASURED = """
**What is not measured.** The code of the paper, which simulates a plasma: here the equal processes sort. Disks: the hosts
share one, and outputs are not synced.
"""


def parts(speeds):
    """The number of processes of each host: by largest remainder, at least one."""
    wishes = [PROCESSES * speed / sum(speeds) for speed in speeds]
    counts = [max(1, int(wish)) for wish in wishes]
    while sum(counts) < PROCESSES:
        counts[max(range(len(counts)), key=lambda host: wishes[host] - counts[host])] += 1
    return counts


def measure(options):
    with stage(FILE, options.records, options.burners) as lab:
        speeds = lab.probe()
        given = ["--strategy", EMULATED, "--speeds", ",".join(f"{speed:.3f}" for speed in speeds)]
        several = [name for name, count in zip(lab.names, parts(speeds)) for _ in range(count)]
        lab.note(f"hosts of the ranks of \"{SEVERAL}\": " + ", ".join(several))
        settings = []
        for size, points in SIZES:
            records = max(1000, options.records * points // SIZES[-1][1])

            def contender(name, options, ranks=(), records=records, size=size):
                return lab.sort(lab.generate(lab.own(f"in-{size}-{name}"), *options, ranks=ranks, records=records), *options,
                                ranks=ranks)

            contenders = {ONE: contender("one", ["--strategy", "equal"]),
                          SEVERAL: contender("several", ["--strategy", "equal"], several),
                          EMULATED: contender("emulated", given)}
            settings.append(lab.compare(size, contenders, options.rounds, records))
        settings.append(_overhead(lab, options))
        return settings


def _overhead(lab, options):
    ranks, records = lab.names[-2:], max(1000, options.records // 2)
    source = lab.generate(lab.own("in-overhead"), ranks=ranks, records=records)
    contenders = {f"V = {count}": lab.sort(source, "--strategy", f"emulated:{count}", "--speeds", "1,1", ranks=ranks)
                  for count in COUNTS}
    return lab.compare(OVERHEAD, contenders, options.rounds, records)


def _of_the_paper(settings):
    return [one for one in settings if one["title"] in PAPER]


def bars(settings):
    settings, found = _of_the_paper(settings), []
    for one in settings:
        found += [samples.ratio_bar(one, EMULATED, ONE, 1.0), samples.ratio_bar(one, EMULATED, SEVERAL, 1.0)]
    return [*found, *(samples.finish_spread_bar(settings[-1], EMULATED, phase) for phase in (samples.FORMED, samples.MERGED))]


def beside_the_paper(settings):
    rows = []
    for one in _of_the_paper(settings):
        paper = PAPER[one["title"]]
        here = [samples.lower_quartile(one, name) for name in (ONE, SEVERAL, EMULATED)]
        rows += [[f"{one['title']}: seconds of one, several, emulated", ", ".join(map(str, paper)),
                  ", ".join(f"{time:.2f}" for time in here)],
                 [f"{one['title']}: emulated / one", f"{paper[2] / paper[0]:.2f}", f"{here[2] / here[0]:.2f}"],
                 [f"{one['title']}: emulated / several", f"{paper[2] / paper[1]:.2f}", f"{here[2] / here[1]:.2f}"]]
        formed = [samples.median_last(one, name, samples.FORMED) for name in (ONE, EMULATED)]
        after = [statistics.median(samples.seconds(one, name)) - begun for name, begun in zip((ONE, EMULATED), formed)]
        spent = [statistics.median(report["ranks"][0].get("communication_cpu_seconds", 0.0) for report in one["reports"][name])
                 for name in (ONE, EMULATED)]
        rows += [[f"{one['title']}: emulated / one until the last rank has formed its runs", "0.36 (work alone)",
                  f"{formed[1] / formed[0]:.2f}"],
                 [f"{one['title']}: emulated / one after that", "-", f"{after[1] / after[0]:.2f}"],
                 [f"{one['title']}: processor seconds of the slowest host's communication, one, emulated", "-",
                  f"{spent[0]:.2f}, {spent[1]:.2f}"]]
    for one in settings:
        if one["title"] == OVERHEAD:
            first, last = (samples.lower_quartile(one, f"V = {count}") for count in (COUNTS[0], COUNTS[-1]))
            rows.append([f"{OVERHEAD}: V = {COUNTS[-1]} / V = {COUNTS[0]}", "-", f"{last / first:.2f}"])
    return rows
