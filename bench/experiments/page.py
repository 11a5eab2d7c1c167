# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""The Markdown page of an experiment. In: the experiment's texts and its measurements. Out: the page as text."""
import statistics

from . import samples

VERDICT = {True: "yes", False: "**no**", None: "-"}


def _table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def _number(value, scale=1.0, digits=3):
    return "-" if value is None else f"{value * scale:.{digits}f}"


def _hosts(setting):
    if not any(host["cpu"] or host["bandwidth"] or host.get("measured") for host in setting["hosts"]):
        return []
    rows = []
    for host in setting["hosts"]:
        measured = host.get("measured", {})
        rows.append([host["name"], _number(host["cpu"]), _number(measured.get("cpu")),
                     _number(host["bandwidth"], 8e-6, 0), _number(measured.get("bandwidth"), 8e-6, 0)])
    return [*_table(["host", "cpu, nominal", "cpu, measured", "mbit, nominal", "mbit, measured"], rows), ""]


def _has_phases(setting):
    return any(rank["phases"] for reports in setting["reports"].values() for report in reports for rank in report["ranks"])


def _contenders(setting):
    first = next(iter(setting["reports"]))
    rows, phases = [], _has_phases(setting)
    for name, reports in setting["reports"].items():
        times = samples.seconds(setting, name)
        quartile, middle = samples.lower_quartile(setting, name), statistics.median(times)
        ratios = samples.prediction_ratios(setting, name)
        rows.append([name, str(len(reports)), str(setting["dropped"][name]), f"{quartile:.2f} s", f"{middle:.2f} s",
                     f"{min(times):.2f} to {max(times):.2f} s",
                     f"{(max(times) - min(times)) / middle:.0%}", f"{quartile / samples.lower_quartile(setting, first):.2f}",
                     *([f"{samples.median_finish_spread(setting, name, samples.FORMED):.1%}",
                        f"{samples.median_last(setting, name, samples.FORMED):.2f} s",
                        f"{samples.median_finish_spread(setting, name, samples.MERGED):.1%}"] if phases else []),
                     f"{statistics.median(ratios):.2f}" if ratios else "-",
                     " ".join(str(rank["output_records"]) for rank in reports[0]["ranks"])])
    head = ["contender", "runs", "dropped", "quartile", "median", "range", "range / median", f"/ {first}",
            *(["finish spread, runs formed", "last formed", "finish spread, merged"] if phases else []),
            "measured / predicted", "records per rank"]
    return _table(head, rows)


def _setting(setting):
    lines = [f"## {setting['title']}", "",
             f"{setting['records']} records, {setting['file']}, mode {setting['mode']}; rounds in turns: {setting['rounds']}.",
             "", *_hosts(setting), *_contenders(setting), ""]
    commands = [f"    # {name}\n    {command}" for name, command in setting["commands"].items()]
    return [*lines, *(["Commands:", "", *commands, ""] if commands else [])]


HOW_TO_READ = """
**How to read it.** Seconds are those of the run report. Quotients are of lower quartiles; the brackets hold the interval in
which 95 of 100 such series would have them (bootstrap). The finish spread of a phase is (latest - earliest) / latest of the
moments when the ranks end it, the median of the rounds. "Runs formed": the rank has read and sorted its own records.
"Merged": its part of the output is merged and written. Every rank gets blocks from the slowest one until the end, so that no
rank can be merged long before it; the spread of "runs formed" therefore says more about the shares. Ranks with less than a
hundredth of an equal share are left out. A run is discarded and repeated if its steal time (processors that the hypervisor
gave to others) is more than 10 percentage points above the contender's lowest, or its time in the kernel more than twice the
lowest.
"""


def introduction(experiment, measured):
    """Everything above the measurements."""
    caveat = [measured["caveat"], ""] if measured.get("caveat") else []
    return [f"# {experiment.TITLE}", "", *caveat, f"`{measured['command']}` made this page on the machine it names.", "",
            experiment.ABOUT.strip(), "", experiment.NOT_MEASURED.strip(), "", getattr(experiment, "HOW_TO_READ", HOW_TO_READ).strip(), "",
            "## Measured", ""]


def page(experiment, measured, picture):
    """`picture`: the SVG's file name, or "" when there is none."""
    lines = introduction(experiment, measured)
    lines += [*measured["context"], f"- command `{measured['command']}`; it took {measured['took_seconds'] / 60:.1f} minutes"]
    notes = dict.fromkeys(note for setting in measured["settings"] for note in setting["notes"])
    lines += [*(f"- {note}" for note in notes), ""]
    if picture:
        lines += [f"![{experiment.TITLE}: seconds of each contender]({picture})", ""]
    bars = [[bar.what, bar.value, bar.bar, VERDICT[bar.met]] for bar in experiment.bars(measured["settings"])]
    lines += [*_table(["what", "measured", "bar", "met"], bars), ""]
    if beside := experiment.beside_the_paper(measured["settings"]):
        lines += ["## Beside the paper", "", *_table(["what", "paper", "here"], beside), ""]
    for setting in measured["settings"]:
        lines += _setting(setting) if setting["reports"] else []
    return "\n".join(lines)
