# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""What the reports of a setting say: seconds, finish spreads, shares, and bars that are met or not.

Two moments tell how far apart ranks finish. `form_runs` ends when a rank has read and sorted its own records, before it
has waited for any other: there shares that fit the hosts show. `exchange` ends when its part of the output is merged and
written: there no rank can be much earlier than the slowest, from which all get blocks until the end. `publish` is left
out, ranks end it together by agreement.
"""
import dataclasses
import statistics

import measure

FORMED, MERGED = "form_runs", "exchange"
RECORDS = {FORMED: "input_records", MERGED: "output_records"}  # with which a rank is busy until then
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


def ratio_bar(setting, name, other, most):
    what, bar = f"{name} / {other}", f"<= {most:g}"
    if lacking := absent(setting, what, bar, name, other):
        return lacking
    quotient = lower_quartile(setting, name) / lower_quartile(setting, other)
    return Bar(_where(setting, what), f"{quotient:.2f}", bar, quotient <= most)


def apart_bar(setting, name, phase, most=0.06):
    what = f"{name}, {'merged' if phase == MERGED else 'runs formed'} apart, median"
    if lacking := absent(setting, what, f"<= {most:.0%}", name):
        return lacking
    value = median_apart(setting, name, phase)
    return Bar(_where(setting, what), f"{value:.1%}", f"<= {most:.0%}", value <= most)


def best_bar(setting, name, rivals, most=1.05):
    """Against the best of the rivals that ran."""
    what, bar = f"{name} / best of {', '.join(rivals)}", f"<= {most:g}"
    if lacking := absent(setting, what, bar, name, *rivals):
        return lacking
    quotient = lower_quartile(setting, name) / min(lower_quartile(setting, rival) for rival in rivals)
    return Bar(_where(setting, what), f"{quotient:.2f}", bar, quotient <= most)


def foretold_bar(setting, name, most=0.10):
    what, bar = f"{name}: measured / predicted, median", f"within {most:.0%}"
    if lacking := absent(setting, what, bar, name):
        return lacking
    ratios = foretold(setting, name)
    if not ratios:
        return Bar(_where(setting, what), "not measured: its costs are not in seconds", bar, None)
    value = statistics.median(ratios)
    return Bar(_where(setting, what), f"{value:.2f}", bar, abs(value - 1) <= most)
