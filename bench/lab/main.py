# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""The commands up, run, probe, set and down. Exit code 2 is an error of the lab; `run` returns that of its command."""
import argparse
import contextlib
import os
import signal

from . import change, cluster, cores, hosts, launch, outside, probe, processors, tables
from .place import place_from
from .system import LabError, say

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(BaseException):
    """A signal asks the command to end."""


def _stop(number, _frame):
    raise Stopped(number)


def mode(burners):
    """"hosts" or "burners". Prints why hosts are not possible."""
    if burners:
        return "burners"
    if os.geteuid() != 0:
        say("not root, therefore no namespaces and control groups: ranks run on this host, next to burners")
        return "burners"
    return "hosts"


def _report(state):
    """Prints what limits the results of this lab."""
    if state["mode"] == "burners":
        say("mode: burners. All ranks run on one host; their parts of cores are approximate, in steps of niceness")
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
    """The lab of this file: the one that is up, or a new one for this command only."""
    state, made = hosts.up(place, arguments.file, mode(arguments.burners), for_itself=True)
    try:
        _report(state)
        yield state
    finally:
        if made:
            hosts.down(place)


def _up(place, arguments):
    stood = hosts.standing(place) is not None
    try:
        state, made = hosts.up(place, arguments.file, mode(arguments.burners))
        for number in STOPPING:
            signal.signal(number, signal.SIG_IGN)  # the lab is up; a later signal does not take it down
    except Stopped:
        if not stood:
            hosts.down(place)
        raise
    _report(state)
    print(tables.nominal(state["hosts"]))
    say("up; './dev lab down' takes it down" if made else "already up")
    return 0


def _run(place, arguments):
    command = launch.resolved(arguments.command)  # fails before the lab is made
    with _lab(place, arguments) as state:
        free = outside.Outside(place, state, arguments.outside) if arguments.outside else contextlib.nullcontext()
        with free:
            return launch.run(state, command, launch.places_of(state, arguments.ranks.split(",")) if arguments.ranks else None)


def _probe(place, arguments):
    load = processors.load()
    if load > processors.BUSY_LOAD:
        say(f"warning: the machine is busy (load {load:.1f}): measured speeds may be too low")
    with _lab(place, arguments) as state:
        measured = probe.measure(state)
        print(tables.compared(state["hosts"], measured))
        print(f"measured speeds: --speeds {tables.speeds(measured)}")
        say(f"mode: {state['mode']}. cpu is in parts of a core. Hosts were measured together, links one by one")
    return 0


def _set(place, arguments):
    values = change.parse(arguments.values)
    state = change.change(place, arguments.file, arguments.host, values)
    _report(state)
    print(tables.nominal(state["hosts"]))
    return 0


def _down(place, _arguments):
    hosts.down(place)
    return 0


def _parser():
    parser = argparse.ArgumentParser(prog="./dev lab", description=__doc__.splitlines()[0],
                                     epilog="see bench/lab/README.md; docs/examples/lab-2006.toml is an example of FILE")
    words = parser.add_subparsers(dest="word", required=True, metavar="up|run|probe|set|down")
    for word, action, text in (("up", _up, "set up the hosts of FILE"),
                               ("run", _run, "run COMMAND under Open MPI, by default one rank a host"),
                               ("probe", _probe, "measure the hosts and print nominal and measured values"),
                               ("set", _set, "change a host while the lab is up, as in cpu=0.25 or bandwidth=100mbit"),
                               ("down", _down, "end and remove everything of the lab")):
        one = words.add_parser(word, help=text, description=text)
        one.set_defaults(action=action)
        if word == "down":
            continue
        if word != "set":
            one.add_argument("--burners", action="store_true", help="use no namespaces and control groups, as without root")
        one.add_argument("file", metavar="FILE", help="cluster file that describes the hosts")
        if word == "set":
            one.add_argument("host", metavar="HOST", help="its name in the lab")
            one.add_argument("values", nargs="+", metavar="KEY=VALUE", help="cpu=CORES or bandwidth=RATE")
        if word == "run":
            one.add_argument("--ranks", metavar="HOST,HOST...", help="the host of each rank, instead of one rank per host")
            one.add_argument("--outside", metavar="NAME,...",
                             help="threads with these names are outside the quotas of their hosts, as if on processors of their own")
            one.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND",
                             help="the command; hetsort means build/release/hetsort")
    return parser


def main(words):
    """`words`: everything after `./dev lab`. Returns the exit code."""
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
