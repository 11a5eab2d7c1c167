# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Measures every host of a lab. A host may get less than its quota, so that plans should use the measured speeds."""
import json
import os
import statistics
import subprocess
import sys
import time

from . import launch, processors
from .system import LabError, say

WORKER = os.path.join(launch.FOLDER, "probe_worker.py")
CPU_SECONDS = 5.0
DISK_SECONDS = 1.0
LINK_SECONDS = 1.0
START_SECONDS = 1.5  # until the workers of all hosts are ready, slow hosts included
PORT = 7700
SWITCH = {"address": "switch"}
PATIENCE_SECONDS = 60
SURE = 3  # a core is faster or slower than the others if it is this many standard errors off
PROBES = 4  # at most, until one has little steal time


def _start(state, host, words):
    command = launch.in_host(state, host, [sys.executable, WORKER, *map(str, words)])
    return subprocess.Popen(command, env=launch.environment(state), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            text=True)


def _answer(process, what):
    try:
        out, _ = process.communicate(timeout=PATIENCE_SECONDS)
        return json.loads(out.splitlines()[-1])
    except (subprocess.TimeoutExpired, ValueError, IndexError) as error:
        raise LabError(f"the probe of {what} failed, see above") from error


def _all_at_once(state, *words):
    """Starts a worker on each host with words[0], the time to begin, and words[1:]. All workers have ended afterwards."""
    begin = time.monotonic() + START_SECONDS
    workers = []
    try:
        for host in state["hosts"]:
            rest = [host["disk"] if word == "DISK" else word for word in words[1:]]
            workers.append(_start(state, host, [words[0], begin, *rest]))
        return [_answer(worker, f"{words[0]} of {host['name']}") for worker, host in zip(workers, state["hosts"])]
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
            worker.stdout.close()


def _link(state, host):
    """Measures from the switch to this host, which is the cable of this host only."""
    receiver = _start(state, host, ["receive", host["address"], PORT])
    sender = None
    try:
        receiver.stdout.readline()  # "ready", or an empty line if it has died; then the sender fails
        sender = _start(state, SWITCH, ["send", host["address"], PORT, LINK_SECONDS])
        sent = _answer(sender, f"the link to {host['name']}")
        return {**sent, **_answer(receiver, f"the link to {host['name']}")}
    finally:
        for worker in filter(None, (receiver, sender)):
            worker.kill()
            worker.wait()
            worker.stdout.close()


def core_speeds(rates):
    """Speed of each host's core relative to the average, from its rates in several intervals. It is 1 unless the difference
    is significant. Cores of a virtual machine share real cores with others and may be twice as fast in one second as in the
    next; a plan from such a second would be worse than one from the quotas."""
    means = [statistics.fmean(pieces) for pieces in rates]
    average = statistics.fmean(means)
    speeds = []
    for pieces, mean in zip(rates, means):
        error = statistics.stdev(pieces) / len(pieces) ** 0.5 if len(pieces) > 1 else mean
        speeds.append(mean / average if abs(mean - average) > SURE * error else 1.0)
    return speeds


def _measure_once(state):
    with launch.burning(state):
        cpus = _all_at_once(state, "cpu", CPU_SECONDS)
        disks = _all_at_once(state, "disk", DISK_SECONDS, "DISK")
        links = [_link(state, host) if state["mode"] == "hosts" else {} for host in state["hosts"]]
    measured = []
    quicker = core_speeds([cpu["rates"] for cpu in cpus])
    for cpu, speed, disk, link in zip(cpus, quicker, disks, links):
        measured.append({"cpu": statistics.median(cpu["parts"]) * speed, "disk_read": disk["read"], "disk_write": disk["write"],
                         "bandwidth": link.get("rate"), "latency": link.get("latency")})
    return measured


def measure(state):
    """One dict per host: cpu (parts of an average core), disk_read, disk_write, bandwidth, latency. The probe with the lowest
    steal time counts."""
    best = None
    for _ in range(PROBES):
        account = processors.Account()
        measured = _measure_once(state)
        stolen = account.spent().stolen_part()
        if best is None or stolen < best[0]:
            best = stolen, measured
        if stolen <= processors.MAX_STOLEN:
            break
    else:
        say(f"warning: steal time is {best[0]:.0%} of the processors' time: measured speeds may be too low")
    return best[1]
