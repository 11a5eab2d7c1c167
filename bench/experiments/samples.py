# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers from the reports of a setting: seconds, finish spreads, shares, and bars that are met or not.

Finish spreads are measured at two moments. `form_runs` ends when a rank has read and sorted its own records, before it has
waited for another rank: its spread shows whether the shares fit the hosts. `exchange` ends when the rank's part of the
output is merged and written: no rank ends it much earlier than the slowest, which sends blocks to all until the end.
`publish` is left out, because ranks end it by agreement.
"""
import dataclasses
import itertools
import random
import statistics

import measure

FORMED, MERGED = "form_runs", "exchange"
RECORDS = {FORMED: "input_records", MERGED: "output_records"}  # the records that a rank handles in this phase
RESAMPLES = 2000
MIN_PART = 0.01  # of an equal share: a rank with less takes no part


def seconds(setting, name):
    return [report["seconds"] for report in setting["reports"][name]]


def lower_quartile(setting, name):
    """The time that is compared. Other work of the machine only adds time, so that a low quantile is closer to the truth."""
    return measure.lower_quartile(seconds(setting, name))


def ends(ranks, phase):
    """When each of these ranks of a report ended the phase, in seconds."""
    found = []
    for rank in ranks:
        found += [one["end"] for one in rank["phases"] if one["name"] == phase][-1:]
    return found


def busy(report, phase):
    """The ranks that take part. A plan may leave out a host that would only delay the others, and that host ends at once."""
    key = RECORDS[phase]
    min_records = MIN_PART * sum(rank[key] for rank in report["ranks"]) / len(report["ranks"])
    return [rank for rank in report["ranks"] if rank[key] >= min_records]


def finish_spread(report, phase):
    """(latest - earliest) / latest of the ends of the ranks that take part."""
    moments = ends(busy(report, phase), phase)
    return (max(moments) - min(moments)) / max(moments) if moments else 0.0


def median_finish_spread(setting, name, phase):
    return statistics.median(finish_spread(report, phase) for report in setting["reports"][name])


def median_last(setting, name, phase):
    """When the last rank ended the phase."""
    return statistics.median(max(ends(report["ranks"], phase), default=0.0) for report in setting["reports"][name])


def prediction_ratios(setting, name):
    """Measured over predicted seconds of each run that had a prediction."""
    return [report["seconds"] / report["predicted_seconds"] for report in setting["reports"][name]
            if report.get("predicted_seconds")]


@dataclasses.dataclass(frozen=True)
class Bar:
    """`met` is None if it could not be measured; then `value` says why."""
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
    """The interval of the quotient of the lower quartiles in 95 of 100 series of as many runs, by the bootstrap. The same
    samples give the same interval."""
    draws = random.Random(1)
    quotients = sorted(measure.lower_quartile(draws.choices(above, k=len(above))) /
                       measure.lower_quartile(draws.choices(below, k=len(below))) for _ in range(RESAMPLES))
    return quotients[round(0.025 * (RESAMPLES - 1))], quotients[round(0.975 * (RESAMPLES - 1))]


def _quotient_bar(setting, what, name, other, limit):
    quotient = lower_quartile(setting, name) / lower_quartile(setting, other)
    low, high = likely(seconds(setting, name), seconds(setting, other))
    return Bar(_where(setting, what), f"{quotient:.2f} ({low:.2f} to {high:.2f})", f"<= {limit:g}", quotient <= limit)


def ratio_bar(setting, name, other, limit):
    what, bar = f"{name} / {other}", f"<= {limit:g}"
    if lacking := absent(setting, what, bar, name, other):
        return lacking
    return _quotient_bar(setting, what, name, other, limit)


def finish_spread_bar(setting, name, phase, limit=0.06):
    what = f"{name}, finish spread, {'merged' if phase == MERGED else 'runs formed'}, median"
    if lacking := absent(setting, what, f"<= {limit:.0%}", name):
        return lacking
    if any(len(busy(report, phase)) < 2 for report in setting["reports"][name]):
        return Bar(_where(setting, what), "one host did all", f"<= {limit:.0%}", False)
    value = median_finish_spread(setting, name, phase)
    return Bar(_where(setting, what), f"{value:.1%}", f"<= {limit:.0%}", value <= limit)


def best_bar(setting, name, rivals, limit=1.05):
    """Compares with the fastest of the rivals."""
    what, bar = f"{name} / best of {', '.join(rivals)}", f"<= {limit:g}"
    if lacking := absent(setting, what, bar, name, *rivals):
        return lacking
    return _quotient_bar(setting, what, name, min(rivals, key=lambda rival: lower_quartile(setting, rival)), limit)


def calibration_bars(setting, near=0.10, alike=0.05, longest=20):
    """For a setting in which each contender has a calibration of its own: whether runs take the predicted time, whether all
    calibrations predict the same, and how long a calibration takes."""
    ratios = {name: prediction_ratios(setting, name) for name in setting["reports"]}
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
