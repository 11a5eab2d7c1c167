# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""The commands: up, run, probe, set, down. Exit code 2 is an error of the lab; run ends with its command's."""
import argparse
import contextlib
import os
import signal

from . import change, cluster, cores, hosts, launch, probe, tables
from .place import place_from
from .system import LabError, say

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
BUSY_LOAD = 0.5  # processes that run already, on average of the last minute


class Stopped(BaseException):
    """A signal to end."""


def _stop(number, _frame):
    raise Stopped(number)


def mode(burners):
    """Says why there are no true hosts when there are none."""
    if burners:
        return "burners"
    if os.geteuid() != 0:
        say("not root, so there are no namespaces and no control groups: ranks on this host beside burners instead")
        return "burners"
    return "hosts"


def _tell(state):
    """Everything a reader of results must know about this lab."""
    if state["mode"] == "burners":
        say("mode: burners. Parts of cores come in steps of niceness, near what was asked for; all ranks on one host")
    total = cluster.fiction([cluster.Host(host["name"], host["cpu"]) for host in state["hosts"]], len(os.sched_getaffinity(0)))
    if warning := total or cores.crowded(state["hosts"]):
        say(f"warning: {warning}")
    noted = {}
    for host in state["hosts"]:
        for note in host["notes"]:
            noted.setdefault(note.replace(f"/{host['name']}:", "/HOST:"), []).append(host["name"])
    for note, names in noted.items():
        say(f"note: {', '.join(names)}: {note}")


@contextlib.contextmanager
def _lab(place, arguments):
    """The lab of this file: the one that is up, or one for this command only."""
    state, made = hosts.up(place, arguments.file, mode(arguments.burners), for_itself=True)
    try:
        _tell(state)
        yield state
    finally:
        if made:
            hosts.down(place)


def _up(place, arguments):
    stood = hosts.standing(place) is not None
    try:
        state, made = hosts.up(place, arguments.file, mode(arguments.burners))
        for number in STOPPING:
            signal.signal(number, signal.SIG_IGN)  # it is up: what comes now comes after it
    except Stopped:
        if not stood:
            hosts.down(place)
        raise
    _tell(state)
    print(tables.nominal(state["hosts"]))
    say("up; './dev lab down' takes it down" if made else "already up")
    return 0


def _run(place, arguments):
    command = launch.resolved(arguments.command)  # before anything is made
    with _lab(place, arguments) as state:
        return launch.run(state, command, launch.places_of(state, arguments.ranks.split(",")) if arguments.ranks else None)


def _probe(place, arguments):
    load = os.getloadavg()[0]
    if load > BUSY_LOAD:
        say(f"warning: the machine has other work, its load is {load:.1f}: what is measured may be too low")
    with _lab(place, arguments) as state:
        measured = probe.measure(state)
        print(tables.compared(state["hosts"], measured))
        print(f"measured speeds: --speeds {tables.speeds(measured)}")
        say(f"mode: {state['mode']}. cpu: parts of a core. All hosts at once, links one by one")
    return 0


def _set(place, arguments):
    values = change.parse(arguments.values)
    state = change.change(place, arguments.file, arguments.host, values)
    _tell(state)
    print(tables.nominal(state["hosts"]))
    return 0


def _down(place, _arguments):
    hosts.down(place)
    return 0


def _parser():
    parser = argparse.ArgumentParser(prog="./dev lab", description=__doc__.splitlines()[0],
                                     epilog="bench/lab/README.md explains; docs/examples/lab-2006.toml is a FILE")
    words = parser.add_subparsers(dest="word", required=True, metavar="up|run|probe|set|down")
    for word, action, text in (("up", _up, "set up the hosts of FILE"),
                               ("run", _run, "run COMMAND under Open MPI, by default one rank a host"),
                               ("probe", _probe, "measure every host: nominal and measured"),
                               ("set", _set, "change a host of the lab that is up: cpu=0.25, bandwidth=100mbit"),
                               ("down", _down, "end and remove everything of the lab")):
        one = words.add_parser(word, help=text, description=text)
        one.set_defaults(action=action)
        if word == "down":
            continue
        if word != "set":
            one.add_argument("--burners", action="store_true", help="no namespaces and control groups, as without root")
        one.add_argument("file", metavar="FILE", help="hosts, as a cluster file")
        if word == "set":
            one.add_argument("host", metavar="HOST", help="its name in the lab")
            one.add_argument("values", nargs="+", metavar="KEY=VALUE", help="cpu=CORES or bandwidth=RATE")
        if word == "run":
            one.add_argument("--ranks", metavar="HOST,HOST...", help="the host of each rank, instead of one rank each")
            one.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND",
                             help="hetsort is build/release/hetsort")
    return parser


def main(words):
    """Everything after `./dev lab`. Returns the exit code."""
    rest = []
    if words and words[0] == "run" and "--" in words:
        split = words.index("--")
        words, rest = words[:split], words[split + 1:]
    arguments = _parser().parse_args(words)
    if rest:
        arguments.command += rest
    for number in STOPPING:
        signal.signal(number, _stop)
    try:
        return arguments.action(place_from(os.environ, os.geteuid()), arguments)
    except LabError as error:
        say(error)
        return 2
    except Stopped as stopped:
        return 128 + stopped.args[0]
