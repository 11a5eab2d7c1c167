# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Starts a command on the hosts: mpirun runs inside host 0, and the agent starts its daemons on the others."""
import contextlib
import itertools
import os
import secrets
import shlex
import signal
import subprocess
import time

from . import network
from .burners import Burning
from .cluster import BY_RANK
from .system import BUILD, ENVIRONMENT, PROGRAM, LabError

FOLDER = os.path.dirname(os.path.realpath(__file__))
AGENT = os.path.join(FOLDER, "agent")
GRACE_SECONDS = 3  # time for mpirun to end by itself after a ^C, which the terminal sends to it too


def places_of(state, names):
    """The number of each rank's host, from the hosts' names in rank order. Throws: LabError."""
    known = [host["name"] for host in state["hosts"]]
    for name in names:
        if name not in known:
            raise LabError(f"run: --ranks: the lab has no host '{name}'; it has {', '.join(known)}")
    return [known.index(name) for name in names]


def link_disks(state, places=None):
    """Makes by-rank/N next to the hosts' disks, a link to the disk of rank N's host, for paths with {rank}. Of runs that
    overlap, the latest counts."""
    folder = os.path.join(state["disks"], BY_RANK)
    os.makedirs(folder, exist_ok=True)
    places = list(places or range(len(state["hosts"])))
    for rank, host in enumerate(places):
        new = os.path.join(folder, f"{rank}.{secrets.token_hex(8)}")
        os.symlink(os.path.join("..", state["hosts"][host]["name"]), new)
        os.replace(new, os.path.join(folder, str(rank)))
    for name in os.listdir(folder):
        if name.isdigit() and int(name) >= len(places):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(folder, name))


def _slots(state, places):
    """mpirun's list of hosts. Neighbouring ranks of one host are one entry."""
    groups = [(state["hosts"][host]["address"], len(list(ranks))) for host, ranks in itertools.groupby(places)]
    if len(groups) > len(set(places)):  # mpirun would merge the entries of a host and move later ranks
        raise LabError("run: --ranks: the ranks of a host must be neighbours, as in fast,fast,slow")
    return ",".join(f"{address}:{count}" for address, count in groups)


def command_line(state, command, places=None):
    """The mpirun command. `places`: the number of each rank's host, by default one rank per host in the order of the file.
    mpirun binds no rank: control groups or the agent do."""
    places = places or list(range(len(state["hosts"])))
    mpirun = ["mpirun", "-np", str(len(places)), "--bind-to", "none", "--mca", "btl", "tcp,self",
              "--mca", "orte_tmpdir_base", state["folder"]]
    if state["mode"] == "burners":
        net, where = "lo", ["--host", f"localhost:{len(places)}"]
        command = [AGENT, "--rank", ",".join(map(str, places)), *command]
    else:
        net, where = network.NETWORK, ["-H", _slots(state, places), "--mca", "plm_rsh_agent", AGENT]
    return [*mpirun, "--mca", "btl_tcp_if_include", net, "--mca", "oob_tcp_if_include", net, *where, *command]


def in_host(state, host, command):
    """The command that runs `command` inside one host."""
    return [AGENT, host["address"], shlex.join(command)]


def environment(state):
    """PATH finds the `hetsort` of this tree, also in scripts of a rank. mpirun may run as root."""
    return {**os.environ, "PATH": f"{BUILD}:{ENVIRONMENT['PATH']}", "HETSORT_LAB_STATE": state["folder"],
            "HETSORT_LAB_MODE": state["mode"], "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def resolved(command):
    """The command, in which `hetsort` means build/release/hetsort. Throws: LabError."""
    if not command:
        raise LabError("run: which command? './dev lab run FILE -- COMMAND...'")
    if command[0].startswith("-"):
        raise LabError(f"run: '{command[0]}' is no command; options go before FILE")
    if command[0] != "hetsort":
        return command
    if not os.access(PROGRAM, os.X_OK):
        raise LabError(f"{PROGRAM} is not built; './dev build' builds it")
    return [PROGRAM, *command[1:]]


def burning(state):
    """A context with the burners of the lab, if it has some. They run only while a command runs."""
    return Burning(state["burners"]) if state["mode"] == "burners" else contextlib.nullcontext()


def _wait(process):
    """Returns the exit code, 128 + n for a death by signal n. Passes SIGTERM and SIGHUP on to the command. A terminal sends
    SIGINT to the command as well, so that it is passed on only if the command does not end by itself."""
    asked = []

    def forward(number, _frame):
        asked.append(time.monotonic())
        if number != signal.SIGINT:
            process.send_signal(number)

    before = {number: signal.signal(number, forward) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = process.wait(timeout=0.2)
                return 128 - code if code < 0 else code
            if asked and time.monotonic() - asked[0] > GRACE_SECONDS:
                process.terminate()
                asked[0] += GRACE_SECONDS
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def whole_command(state, command, places=None):
    """The command line that starts `command` on all hosts. It needs the environment of environment(), inside burning()."""
    whole = command_line(state, resolved(command), places)
    return whole if state["mode"] == "burners" else in_host(state, state["hosts"][0], whole)


def run(state, command, places=None):
    """Runs the command on all hosts; standard input, output and error pass through. Returns its exit code."""
    whole = whole_command(state, command, places)
    link_disks(state, places)
    with burning(state):
        try:
            process = subprocess.Popen(whole, env=environment(state))
        except OSError as error:
            raise LabError(f"cannot start {whole[0]}: {error.strerror}; "
                           "'./dev setup' installs what is needed") from error
        return _wait(process)
