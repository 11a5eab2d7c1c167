# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""A host slows down to half after it was measured: the cost of a plan from stale speeds, and how well learning and auto adapt."""
from . import samples
from .stage import stage

NAME, ROUNDS, RECORDS = "drift", 5, 10_000_000
TITLE = "A host slows down to half after it was measured"
FILE, HOST, CPU = "lab-2006.toml", "fast1", 0.25
LEARNING_RUNS = 3  # before the change, and as many after it, before the measured rounds
STALE, FRESH, LEARNED, AUTO = "stale plan", "fresh plan", "learned", "auto"

ABOUT = f"""
**What is measured.** All hosts see one input file, and each reads its share. Speeds are probed, then {HOST} is slowed down
to half. "{STALE}" plans with the speeds from before, "{FRESH}" with speeds that are probed after the change. "{LEARNED}"
plans from the curves of {LEARNING_RUNS} runs before the change and {LEARNING_RUNS} after it, and goes on learning in the
rounds. `auto` gets no speeds; its ranks claim pieces of the input while they read it.
"""
NOT_MEASURED = """
**What is not measured.** A change during a run. Disks: the hosts are one machine, the shared input is in its page cache, and
outputs are not synced.
"""


def measure(options):
    with stage(FILE, options.records, options.burners) as lab:
        stale = ",".join(f"{speed:.3f}" for speed in lab.probe())
        source = lab.generate(lab.common("in"))
        learned = lab.sort(source, "--learn", lab.common("curves.json"))
        for _ in range(LEARNING_RUNS):
            lab.once(learned)
        lab.set(HOST, cpu=CPU)
        fresh = ",".join(f"{speed:.3f}" for speed in lab.probe())
        lab.note(f"speeds probed before the change {stale}, after it {fresh}")
        for _ in range(LEARNING_RUNS):
            lab.once(learned)
        contenders = {STALE: lab.sort(source, "--strategy", "lambert", "--speeds", stale),
                      FRESH: lab.sort(source, "--strategy", "lambert", "--speeds", fresh),
                      AUTO: lab.sort(source, "--strategy", "auto"), LEARNED: learned}
        return [lab.compare("one host at half speed", contenders, options.rounds)]


def bars(settings):
    one = settings[0]
    return [samples.ratio_bar(one, AUTO, STALE, 0.85), samples.best_bar(one, AUTO, [FRESH]),
            samples.ratio_bar(one, LEARNED, STALE, 0.85),
            *(samples.finish_spread_bar(one, AUTO, phase) for phase in (samples.FORMED, samples.MERGED))]


def beside_the_paper(_settings):
    return []
