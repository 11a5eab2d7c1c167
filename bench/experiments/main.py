# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""The command: measures an experiment, keeps what it measured as JSON, and writes its page and picture. Exit code 1 when a
bar is missed, 2 on an error of the lab."""
import argparse
import json
import os
import shlex
import signal
import sys
import time
import types

import measure
from lab import main as lab_main
from lab.system import LabError

from . import drift, emulated, page, picture, scatter_2003, sorting_2006, unequal
from .stage import TOP

SCHEMA = "hetsort.experiment/2"
ALL = {one.NAME: one for one in (sorting_2006, scatter_2003, emulated, unequal, drift)}


def _stop(number, _frame):
    sys.exit(128 + number)  # through all that takes labs down


def _parser():
    listing = "\n".join(f"  {name:14}{one.__doc__.split('.')[0].split(':')[0]} ({one.ROUNDS} rounds, {one.RECORDS} records)"
                        for name, one in ALL.items())
    parser = argparse.ArgumentParser(prog="./dev experiment", description=__doc__, epilog=f"experiments:\n{listing}",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=[*ALL, "all"], metavar="NAME", help=f"{', '.join(ALL)} or all")
    parser.add_argument("--rounds", type=int, help="runs of each contender, instead of the experiment's own")
    parser.add_argument("--records", type=int, help="instead of the experiment's own")
    parser.add_argument("--output", default=os.path.join(TOP, "docs", "results"), metavar="FOLDER",
                        help="where NAME.md and NAME.svg go (docs/results)")
    parser.add_argument("--keep", default=os.path.join(TOP, "build", "experiments"), metavar="FOLDER",
                        help="where NAME.json goes, all that was measured (build/experiments)")
    parser.add_argument("--burners", action="store_true", help="a lab without namespaces and control groups, as without root")
    parser.add_argument("--again", action="store_true", help="measure nothing: the page of what was kept")
    return parser


def _measured(experiment, arguments, command, load):
    """What is kept of an experiment: everything its page is made of. `load` is what others had begun before."""
    begin = time.monotonic()
    options = types.SimpleNamespace(rounds=arguments.rounds or experiment.ROUNDS,
                                    records=arguments.records or experiment.RECORDS, burners=arguments.burners)
    context = measure.machine()
    if load > lab_main.BUSY_LOAD:
        context.append(f"- the machine had other work, its load was {load:.1f}: not a quiet run")
    settings = experiment.measure(options)
    return {"schema": SCHEMA, "name": experiment.NAME, "command": command, "context": context,
            "took_seconds": time.monotonic() - begin, "settings": settings}


def _kept(path):
    """What was measured before. Throws: LabError naming the file."""
    try:
        with open(path, encoding="utf-8") as file:
            measured = json.load(file)
    except ValueError as error:
        raise LabError(f"{path}: {error}") from error
    if not isinstance(measured, dict) or measured.get("schema") != SCHEMA:
        raise LabError(f"{path} is not {SCHEMA}: measure it again, without --again")
    return measured


def write_page(experiment, measured, folder):
    """NAME.md and NAME.svg. Returns whether all bars are met."""
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
    if arguments.again:
        measured = _kept(kept)
    else:
        measured = _measured(experiment, arguments, command, load)
        os.makedirs(arguments.keep, exist_ok=True)
        with open(kept, "w", encoding="utf-8") as file:
            json.dump(measured, file)
    return write_page(experiment, measured, arguments.output)


def main(words):
    """Everything after `./dev experiment`. Returns the exit code."""
    parser = _parser()
    arguments = parser.parse_args(words)
    if any(value is not None and value < 1 for value in (arguments.rounds, arguments.records)):
        parser.error("--rounds and --records must be positive")
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    met, load = True, os.getloadavg()[0]
    try:
        for name in ALL if arguments.name == "all" else [arguments.name]:
            measure.say(f"experiment {name}")
            met = _one(name, arguments, shlex.join(["./dev", "experiment", *words]), load) and met
    except (LabError, OSError) as error:
        measure.say(f"experiment: {error}")
        return 2
    return 0 if met else 1
