# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""The Markdown page of an experiment. In: its texts and what was measured. Out: text; nothing is run or read here."""
import statistics

from . import samples

VERDICT = {True: "yes", False: "**no**", None: "-"}


def _table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def _number(value, scale=1.0, digits=3):
    return "-" if value is None else f"{value * scale:.{digits}f}"


def _hosts(setting):
    rows = []
    for host in setting["hosts"]:
        measured = host.get("measured", {})
        rows.append([host["name"], _number(host["cpu"]), _number(measured.get("cpu")),
                     _number(host["bandwidth"], 8e-6, 0), _number(measured.get("bandwidth"), 8e-6, 0)])
    return _table(["host", "cpu, nominal", "cpu, measured", "mbit, nominal", "mbit, measured"], rows)


def _contenders(setting):
    first = next(iter(setting["reports"]))
    rows = []
    for name, reports in setting["reports"].items():
        times = samples.seconds(setting, name)
        quartile, middle = samples.lower_quartile(setting, name), statistics.median(times)
        foretold = samples.foretold(setting, name)
        rows.append([name, str(len(reports)), str(setting["dropped"][name]), f"{quartile:.2f} s", f"{middle:.2f} s",
                     f"{min(times):.2f} to {max(times):.2f} s",
                     f"{(max(times) - min(times)) / middle:.0%}", f"{quartile / samples.lower_quartile(setting, first):.2f}",
                     f"{samples.median_apart(setting, name, samples.FORMED):.1%}",
                     f"{samples.median_last(setting, name, samples.FORMED):.2f} s",
                     f"{samples.median_apart(setting, name, samples.MERGED):.1%}",
                     f"{statistics.median(foretold):.2f}" if foretold else "-",
                     " ".join(str(rank["output_records"]) for rank in reports[0]["ranks"])])
    head = ["contender", "runs", "dropped", "quartile", "median", "least to most", "spread", f"/ {first}",
            "runs formed apart", "last formed", "merged apart", "measured / predicted", "records a rank"]
    return _table(head, rows)


def _setting(setting):
    lines = [f"## {setting['title']}", "",
             f"{setting['records']} records, {setting['file']}, mode {setting['mode']}; rounds in turns: {setting['rounds']}.",
             "", *_hosts(setting), "", *_contenders(setting), "", "Commands:", ""]
    return [*lines, *(f"    # {name}\n    {command}" for name, command in setting["commands"].items()), ""]


def page(experiment, measured, picture):
    """`picture`: the SVG's file name, or "" when there is none."""
    lines = [f"# {experiment.TITLE}", "", f"`{measured['command']}` made this page on the machine it names.", "",
             experiment.ABOUT.strip(), "", experiment.NOT_MEASURED.strip(), "",
             "**How to read it.** Seconds are those of the run report; quotients are of lower quartiles, in brackets "
             "where 95 of 100 such series would have them (bootstrap), spread is (most - least) / "
             "median. "
             "Apart is (latest - earliest) / latest of the moments when the ranks ended a phase, the median of the rounds: "
             "\"runs formed\" when a rank had read and sorted its own records, \"merged\" when its part of the output was merged "
             "and written. No rank can be merged long before the slowest, from which it gets blocks until the end, so that "
             "the first column tells more. Ranks with less than a hundredth of an equal share are left out. "
             "Runs are dropped and made again when the host of this virtual machine kept a tenth more of its processors from it "
             "than in the contender's calmest run, or when the kernel took over twice its least time.", "", "## Measured", ""]
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
