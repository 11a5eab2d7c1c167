# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""A host slows down: after it was measured, which costs plans from stale speeds, or at some moment of a run with plain auto."""
import statistics

from . import samples
from .stage import stage

NAME, ROUNDS, RECORDS = "drift", 5, 30_000_000
TITLE = "A host slows down after it was measured, or while it sorts"
FILE, HOST, CPU = "lab-2006.toml", "fast1", 0.25
LEARNING_RUNS = 3  # before the change, and as many after it, before the measured rounds
STALE, FRESH, LEARNED, AUTO = "stale plan", "fresh plan", "learned", "auto"
EQUAL_FILE, FALLING, WHOLE_CPU, FALLEN_CPU = "lab-equal.toml", "host4", 0.5, 0.1
UNDISTURBED, IN_EXCHANGE = "undisturbed", "in the exchange"
# The part of the phase at which the host falls and, in the last line, the one at which it recovers.
MOMENTS = {"before the start": (samples.FORMED, None, None), "while runs form": (samples.FORMED, 0.5, None),
           "as the exchange begins": (samples.MERGED, 0.0, None), IN_EXCHANGE: (samples.MERGED, 0.35, None),
           "near the end": (samples.MERGED, 0.8, None), "in the exchange, and recovers": (samples.MERGED, 0.0, 0.6)}
TRIALS = 3  # undisturbed runs that say when the phases are

ABOUT = f"""
**What is measured.** All hosts see one input file, and each reads its share. In the first part speeds are probed, then
{HOST} is slowed down to half. "{STALE}" plans with the speeds from before, "{FRESH}" with speeds that are probed after the
change. "{LEARNED}" plans from the curves of {LEARNING_RUNS} runs before the change and {LEARNING_RUNS} after it, and goes on
learning in the rounds. `auto` gets no speeds; its ranks claim pieces of the input while they read it.

In the second part one of four equal hosts falls from {WHOLE_CPU} to {FALLEN_CPU} of a core at a moment of a run with plain
`auto`, and all write one output. Moments are parts of the phases of undisturbed runs. The host that recovers does so at a
part of the exchange that is as long as in undisturbed runs.
"""
NOT_MEASURED = """
**What is not measured.** Disks: the hosts are one machine, the shared input is in its page cache, and outputs are not synced.
"""


def measure(options):
    yield _after_a_change(options)
    yield _during_a_run(options)


def _after_a_change(options):
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
        return lab.compare("one host at half speed", contenders, options.rounds)


def _during_a_run(options):
    with stage(EQUAL_FILE, options.records, options.burners) as lab:
        contender = lab.sort(lab.generate(lab.common("in")), out=lab.common("out.all"))
        formed, merged, wall = _phases([lab.once(contender) for _ in range(min(TRIALS, options.rounds))])

        def run(moment):
            if moment == UNDISTURBED:
                return lab.once(contender)[0]
            phase, fall, recovery = MOMENTS[moment]
            begin, seconds = (wall, formed) if phase == samples.FORMED else (wall + formed, merged - formed)
            if fall is None:
                lab.set(FALLING, cpu=FALLEN_CPU)
            changes = [(begin + part * seconds, FALLING, {"cpu": cpu})
                       for part, cpu in ((fall, FALLEN_CPU), (recovery, WHOLE_CPU)) if part is not None]
            report, _ = lab.once(contender, changes)
            lab.set(FALLING, cpu=WHOLE_CPU)
            return report

        contenders = {name: lambda name=name: run(name) for name in (UNDISTURBED, *MOMENTS)}
        lab.note(f"of four equal hosts, {FALLING} falls from {WHOLE_CPU} to {FALLEN_CPU}; undisturbed, {wall:.2f} s lie before "
                 f"the program begins, runs are formed after {formed:.2f} s and all is merged after {merged:.2f} s")
        return {**lab.rounds("one host falls", contenders, options.rounds, options.records),
                "commands": {"all": lab.shown(contender.command)}}


def _phases(trials):
    """Medians of these runs, in seconds: when the last rank has formed its runs, when the last has merged, and from the launch
    to the begin of the program. What mpirun needs at the end counts as if it came before."""
    def middle(values):
        return statistics.median(values)
    return (*(middle(max(samples.ends(report["ranks"], phase)) for report, _ in trials) for phase in (samples.FORMED, samples.MERGED)),
            middle(wall - report["seconds"] for report, wall in trials))


def bars(settings):
    one = settings[0]
    return [samples.ratio_bar(one, AUTO, STALE, 0.85), samples.best_bar(one, AUTO, [FRESH]),
            samples.ratio_bar(one, LEARNED, STALE, 0.85),
            *(samples.finish_spread_bar(one, AUTO, phase) for phase in (samples.FORMED, samples.MERGED)),
            *(samples.ratio_bar(falls, moment, UNDISTURBED, 1.5) for falls in settings[1:] for moment in MOMENTS)]


def beside_the_paper(_settings):
    return []
