# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""The command: measures an experiment, keeps the measurements as JSON, and writes its page and picture. The exit code is 1
if a bar is missed and 2 if the lab fails or a file cannot be written."""
import argparse
import json
import os
import shlex
import signal
import sys
import time
import types

import measure
from lab import processors
from lab.system import LabError

from . import drift, emulated, mheta, page, picture, queues, scatter_2003, sorting_2006, unequal, whole_run
from .stage import TOP

SCHEMA = "hetsort.experiment/2"
RESULTS = os.path.join(TOP, "docs", "results")
ALL = {one.NAME: one for one in (sorting_2006, scatter_2003, emulated, unequal, drift, whole_run, queues, mheta)}


def _stop(number, _frame):
    sys.exit(128 + number)  # an exception, so that the lab is taken down


def _parser():
    listing = "\n".join(f"  {name:14}{one.__doc__.split('.')[0].split(':')[0]} ({one.ROUNDS} rounds, {one.RECORDS} records)"
                        for name, one in ALL.items())
    parser = argparse.ArgumentParser(prog="./dev experiment", description=__doc__, epilog=f"experiments:\n{listing}",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=[*ALL, "all"], metavar="NAME", help=f"{', '.join(ALL)} or all")
    parser.add_argument("--rounds", type=int, help="runs of each contender, instead of the number that the experiment defines")
    parser.add_argument("--records", type=int, help="records to sort, instead of the number that the experiment defines")
    parser.add_argument("--output", default=RESULTS, metavar="FOLDER",
                        help="folder for NAME.md and NAME.svg (docs/results, which takes no page of uncommitted sources)")
    parser.add_argument("--keep", default=os.path.join(TOP, "build", "experiments"), metavar="FOLDER",
                        help="folder for NAME.json, which has all measurements (build/experiments)")
    parser.add_argument("--burners", action="store_true", help="use no namespaces and control groups, as without root")
    parser.add_argument("--again", action="store_true", help="measure nothing; write the page from NAME.json")
    parser.add_argument("--part", metavar="PART",
                        help="measure this part only, and keep the others in NAME.json; parts of mheta: " + ", ".join(mheta.PARTS))
    parser.add_argument("--busy", action="store_true",
                        help=f"measure although the machine is busy (load above {processors.BUSY_LOAD:g}); the page says so")
    return parser


def _measured(experiment, arguments, command, load, path):
    """All data of an experiment's page. `load`: of the machine, before the first experiment. The file `path` gets
    each setting that the experiment yields, so that a later failure does not lose it."""
    begin = time.monotonic()
    options = types.SimpleNamespace(rounds=arguments.rounds or experiment.ROUNDS,
                                    records=arguments.records or experiment.RECORDS, burners=arguments.burners,
                                    part=arguments.part)
    context, caveat = measure.machine(load), measure.caveat(load)
    measured = {"schema": SCHEMA, "name": experiment.NAME, "command": command, "caveat": caveat, "context": context, "settings": [],
                "took_seconds": 0}
    if arguments.part and os.path.exists(path):
        measured = _with_earlier_parts(measured, _kept(path), arguments.part)
    took_before = measured["took_seconds"]
    for setting in experiment.measure(options):
        measured["settings"].append(setting if arguments.part is None else {**setting, "part": arguments.part})
        measured["took_seconds"] = took_before + time.monotonic() - begin
        with open(path, "w", encoding="utf-8") as file:
            json.dump(measured, file)
    return measured


def _with_earlier_parts(measured, kept, part):
    """The settings of other parts and what their page said first. The lines about the machine are those of all runs."""
    settings = [setting for setting in kept["settings"] if setting.get("part", part) != part]
    if not settings:
        return measured
    return {**measured, "settings": settings, "caveat": measured["caveat"] or kept["caveat"],
            "context": list(dict.fromkeys([*kept["context"], *measured["context"]])),
            "command": kept["command"] + "; " + measured["command"], "took_seconds": kept["took_seconds"]}


def _check_folders(arguments, load):
    """Before anything is measured. Throws: LabError if a page cannot be written later, or should not be."""
    if not arguments.again and not arguments.busy and load > processors.BUSY_LOAD:
        raise LabError(f"the machine is busy (load {load:.1f}, above {processors.BUSY_LOAD:g}): wait, or measure nevertheless with --busy")
    os.makedirs(arguments.keep, exist_ok=True)
    for folder, option in ((arguments.output, "--output"), (arguments.keep, "--keep")):
        if problem := measure.writable(folder):
            raise LabError(f"{problem}; choose another with {option}")
    if not arguments.again and os.path.realpath(arguments.output) == RESULTS and measure.uncommitted_changes():
        raise LabError(f"{RESULTS} takes pages of committed sources only: commit the changes, or choose another folder with "
                       "--output")


def _kept(path):
    """The measurements of an earlier run. Throws: LabError that names the file."""
    try:
        with open(path, encoding="utf-8") as file:
            measured = json.load(file)
    except ValueError as error:
        raise LabError(f"{path}: {error}") from error
    if not isinstance(measured, dict) or measured.get("schema") != SCHEMA:
        raise LabError(f"{path} is not of schema {SCHEMA}: measure again, without --again")
    return measured


def write_page(experiment, measured, folder):
    """Writes NAME.md and NAME.svg. Returns whether all bars are met."""
    drawn = picture.draw(experiment.TITLE, measured["settings"])
    if drawn:
        with open(os.path.join(folder, f"{experiment.NAME}.svg"), "w", encoding="utf-8") as file:
            file.write(drawn)
    else:
        measure.say("note: no picture: gnuplot is not installed")
    path = os.path.join(folder, f"{experiment.NAME}.md")
    with open(path, "w", encoding="utf-8") as file:
        file.write(page.page(experiment, measured, f"{experiment.NAME}.svg" if drawn else "").rstrip() + "\n")
    bars = experiment.bars(measured["settings"])
    for bar in bars:
        print(f"{page.VERDICT[bar.met].strip('*'):4} {bar.what}: {bar.value} (bar {bar.bar})")
    print(f"{path}, {measured['took_seconds'] / 60:.1f} minutes")
    return all(bar.met is not False for bar in bars)


def _one(name, arguments, command, load):
    experiment, kept = ALL[name], os.path.join(arguments.keep, f"{name}.json")
    measured = _kept(kept) if arguments.again else _measured(experiment, arguments, command, load, kept)
    return write_page(experiment, measured, arguments.output)


def main(words):
    """`words`: everything after `./dev experiment`. Returns the exit code."""
    parser = _parser()
    arguments = parser.parse_args(words)
    if any(value is not None and value < 1 for value in (arguments.rounds, arguments.records)):
        parser.error("--rounds and --records must be positive")
    if arguments.part and (arguments.name != mheta.NAME or arguments.part not in mheta.PARTS):
        parser.error(f"--part is for {mheta.NAME}: {', '.join(mheta.PARTS)}")
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    met, load = True, processors.load()
    try:
        _check_folders(arguments, load)
        for name in ALL if arguments.name == "all" else [arguments.name]:
            measure.say(f"experiment {name}")
            met = _one(name, arguments, shlex.join(["./dev", "experiment", *words]), load) and met
    except (LabError, OSError) as error:
        measure.say(f"experiment: {error}")
        return 2
    return 0 if met else 1
