# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""How a command gets onto the hosts: mpirun inside host 0, one rank a host or several, daemons started by the agent."""
import contextlib
import os
import shlex
import signal
import subprocess
import time

from . import network
from .burners import Burning
from .system import ENVIRONMENT, LabError

FOLDER = os.path.dirname(os.path.realpath(__file__))
AGENT = os.path.join(FOLDER, "agent")
BUILD = os.path.join(os.path.dirname(os.path.dirname(FOLDER)), "build", "release")
GRACE_SECONDS = 3  # for a ^C that the terminal has sent to mpirun as well


def hosts_of_ranks(state, ranks):
    """The number of each rank's host. `ranks`: how many each host gets, None for one each. Throws: LabError."""
    counts = ranks or [1] * len(state["hosts"])
    if len(counts) != len(state["hosts"]) or min(counts) < 1:
        raise LabError(f"run: --ranks wants a number above zero for each of the {len(state['hosts'])} hosts")
    return [host for host, count in enumerate(counts) for _ in range(count)]


def link_disks(state, ranks=None):
    """by-rank/N beside the hosts' disks: that of rank N's host, for paths with {rank}."""
    folder = os.path.join(state["disks"], "by-rank")
    os.makedirs(folder, exist_ok=True)
    for entry in os.scandir(folder):
        os.unlink(entry.path)
    for rank, host in enumerate(hosts_of_ranks(state, ranks)):
        os.symlink(os.path.join("..", state["hosts"][host]["name"]), os.path.join(folder, str(rank)))


def command_line(state, command, ranks=None):
    """The mpirun command. Ranks are bound to nothing: groups or the agent decide what they get."""
    places = hosts_of_ranks(state, ranks)
    mpirun = ["mpirun", "-np", str(len(places)), "--bind-to", "none", "--mca", "btl", "tcp,self",
              "--mca", "orte_tmpdir_base", state["folder"]]
    if state["mode"] == "burners":
        net, where = "lo", ["--host", f"localhost:{len(places)}"]
        command = [AGENT, "--rank", ",".join(map(str, places)), *command]
    else:
        net = network.NETWORK
        slots = [f"{host['address']}:{places.count(number)}" for number, host in enumerate(state["hosts"])]
        where = ["-H", ",".join(slots), "--mca", "plm_rsh_agent", AGENT]
    return [*mpirun, "--mca", "btl_tcp_if_include", net, "--mca", "oob_tcp_if_include", net, *where, *command]


def in_host(state, host, command):
    """The command that runs `command` inside one host."""
    return [AGENT, host["address"], shlex.join(command)]


def environment(state):
    """`hetsort` is this tree's, in scripts that a rank runs too. A lab needs no user for its own hosts."""
    return {**os.environ, "PATH": f"{BUILD}:{ENVIRONMENT['PATH']}", "HETSORT_LAB_STATE": state["folder"],
            "HETSORT_LAB_MODE": state["mode"], "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def resolved(command):
    """`hetsort` as a command means build/release/hetsort."""
    if not command:
        raise LabError("run: which command? './dev lab run FILE -- COMMAND...'")
    if command[0] != "hetsort":
        return command
    program = os.path.join(BUILD, "hetsort")
    if not os.access(program, os.X_OK):
        raise LabError(f"{program} is not built; './dev build' builds it")
    return [program, *command[1:]]


def burning(state):
    """The burners of a lab that has some, else nothing. They are there only while something runs."""
    return Burning(state["burners"]) if state["mode"] == "burners" else contextlib.nullcontext()


def _wait(process):
    """The exit code, 128 + n for a death by signal n. SIGTERM and SIGHUP go on to the command. SIGINT mostly comes from
    a terminal, which sends it to the command as well: it is passed on only if the command does not end by itself."""
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


def whole_command(state, command, ranks=None):
    """What starts `command` on all hosts, with the environment of environment(), while burning() lasts."""
    whole = command_line(state, resolved(command), ranks)
    return whole if state["mode"] == "burners" else in_host(state, state["hosts"][0], whole)


def run(state, command, ranks=None):
    """Runs the command on all hosts; standard input, output and error pass through. Returns its exit code."""
    whole = whole_command(state, command, ranks)
    link_disks(state, ranks)
    with burning(state):
        try:
            process = subprocess.Popen(whole, env=environment(state))
        except OSError as error:
            raise LabError(f"cannot start {whole[0]}: {error.strerror}; "
                           "'./dev setup' installs what is needed") from error
        return _wait(process)
