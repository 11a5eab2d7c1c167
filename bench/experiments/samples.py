# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""What the reports of a setting say: seconds, finish spreads, shares, and bars that are met or not.

Two moments tell how far apart ranks finish. `form_runs` ends when a rank has read and sorted its own records, before it
has waited for any other: there shares that fit the hosts show. `exchange` ends when its part of the output is merged and
written: there no rank can be much earlier than the slowest, from which all get blocks until the end. `publish` is left
out, ranks end it together by agreement.
"""
import dataclasses
import itertools
import random
import statistics

import measure

FORMED, MERGED = "form_runs", "exchange"
RECORDS = {FORMED: "input_records", MERGED: "output_records"}  # with which a rank is busy until then
RESAMPLES = 2000
NOTHING = 0.01  # of an equal share: a rank with less takes no part


def seconds(setting, name):
    return [report["seconds"] for report in setting["reports"][name]]


def lower_quartile(setting, name):
    """What is compared: other work of the machine only ever adds, so that it tells more than the median does."""
    return measure.lower_quartile(seconds(setting, name))


def ends(ranks, phase):
    """When each of these ranks of a report ended the phase, in seconds; a rank alone has merge_runs in the place of exchange."""
    found = []
    for rank in ranks:
        found += [one["end"] for one in rank["phases"] if one["name"] == phase][-1:]
    return found


def busy(report, phase):
    """The ranks that take part: a plan may leave out a host that would only hold the others up, and that one is done at
    once."""
    key = RECORDS[phase]
    least = NOTHING * sum(rank[key] for rank in report["ranks"]) / len(report["ranks"])
    return [rank for rank in report["ranks"] if rank[key] >= least]


def apart(report, phase):
    """(latest - earliest) / latest of the ends of the ranks that take part."""
    moments = ends(busy(report, phase), phase)
    return (max(moments) - min(moments)) / max(moments) if moments else 0.0


def median_apart(setting, name, phase):
    return statistics.median(apart(report, phase) for report in setting["reports"][name])


def median_last(setting, name, phase):
    """When the last rank ended it."""
    return statistics.median(max(ends(report["ranks"], phase), default=0.0) for report in setting["reports"][name])


def foretold(setting, name):
    """Measured over predicted seconds of each run that had a prediction."""
    return [report["seconds"] / report["predicted_seconds"] for report in setting["reports"][name]
            if report.get("predicted_seconds")]


@dataclasses.dataclass(frozen=True)
class Bar:
    """`met` is None where it could not be measured; `value` says why."""
    what: str
    value: str
    bar: str
    met: bool | None


def _where(setting, what):
    return f"{setting['title']}: {what}"


def absent(setting, what, bar, *names):
    """A bar for contenders that did not run, else None."""
    missing = [name for name in names if name not in setting["reports"]]
    return Bar(_where(setting, what), f"not measured: no {', '.join(missing)}", bar, None) if missing else None


def likely(above, below):
    """Where the quotient of these samples' lower quartiles is in 95 of 100 series of as many runs, by the bootstrap. The same
    for the same samples."""
    draws = random.Random(1)
    quotients = sorted(measure.lower_quartile(draws.choices(above, k=len(above))) /
                       measure.lower_quartile(draws.choices(below, k=len(below))) for _ in range(RESAMPLES))
    return quotients[round(0.025 * (RESAMPLES - 1))], quotients[round(0.975 * (RESAMPLES - 1))]


def _quotient_bar(setting, what, name, other, most):
    quotient = lower_quartile(setting, name) / lower_quartile(setting, other)
    least_likely, most_likely = likely(seconds(setting, name), seconds(setting, other))
    value = f"{quotient:.2f} ({least_likely:.2f} to {most_likely:.2f})"
    return Bar(_where(setting, what), value, f"<= {most:g}", quotient <= most)


def ratio_bar(setting, name, other, most):
    what, bar = f"{name} / {other}", f"<= {most:g}"
    if lacking := absent(setting, what, bar, name, other):
        return lacking
    return _quotient_bar(setting, what, name, other, most)


def apart_bar(setting, name, phase, most=0.06):
    what = f"{name}, {'merged' if phase == MERGED else 'runs formed'} apart, median"
    if lacking := absent(setting, what, f"<= {most:.0%}", name):
        return lacking
    if any(len(busy(report, phase)) < 2 for report in setting["reports"][name]):
        return Bar(_where(setting, what), "one host did all", f"<= {most:.0%}", False)
    value = median_apart(setting, name, phase)
    return Bar(_where(setting, what), f"{value:.1%}", f"<= {most:.0%}", value <= most)


def best_bar(setting, name, rivals, most=1.05):
    """Against the best of the rivals that ran."""
    what, bar = f"{name} / best of {', '.join(rivals)}", f"<= {most:g}"
    if lacking := absent(setting, what, bar, name, *rivals):
        return lacking
    return _quotient_bar(setting, what, name, min(rivals, key=lambda rival: lower_quartile(setting, rival)), most)


def calibration_bars(setting, near=0.10, alike=0.05, longest=60):
    """Of a setting of which each contender has a calibration of its own: whether the runs took what it foretold, whether all
    foretold the same, and how long they took."""
    ratios = {name: foretold(setting, name) for name in setting["reports"]}
    near_bar, what = f"within {near:.0%}", "measured / predicted, median of all"
    if not all(ratios.values()):
        return [Bar(_where(setting, what), "not measured: costs are not in seconds", near_bar, None)]
    middle = statistics.median(itertools.chain(*ratios.values()))
    each = ", ".join(f"{statistics.median(one):.2f}" for one in ratios.values())
    predictions = [reports[0]["predicted_seconds"] for reports in setting["reports"].values()]
    off = max(abs(one / statistics.median(predictions) - 1) for one in predictions)
    took = max(setting["calibrate_seconds"])
    return [Bar(_where(setting, what), f"{middle:.2f} (each: {each})", near_bar, abs(middle - 1) <= near),
            Bar(_where(setting, f"predictions of {len(predictions)} calibrations, furthest from their median"), f"{off:.1%}",
                f"<= {alike:.0%}", off <= alike),
            Bar(_where(setting, "calibrate, longest"), f"{took:.1f} s", f"<= {longest} s", took <= longest)]
