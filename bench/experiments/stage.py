# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""A lab for one experiment: it comes up, its hosts are probed and get records, contenders run in turns, and it goes down.

In: a file of docs/examples. Out: a setting, a dict that is kept as JSON and from which bars, page and picture are made:

    title, file, mode, records, rounds, notes
    hosts       [{name, cpu, bandwidth, measured: {cpu, bandwidth, ...}}]
    commands    {contender: command}
    dropped     {contender: number of outliers}
    reports     {contender: [hetsort.run/1, ...]}, of the other runs
    calibrate_seconds   [seconds of each `hetsort calibrate`], only if calibrations are checked

A setting that this machine cannot measure has a title, notes and no reports.
"""
import contextlib
import glob
import json
import os
import shlex
import subprocess
import threading
import time

import measure
from lab import change, hosts, launch, main as lab_main, outside as outside_quotas, probe
from lab.place import place_from
from lab.system import LabError

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
LAB = os.path.join(launch.FOLDER, "lab")
MEMORY_OF_A_RUN = 3.5  # times the data: inputs in the page cache, arenas, outputs, copies of the runs of slow hosts
PATIENCE_SECONDS = 300
CALIBRATIONS, PREDICTION_ROUNDS = 3, 4


def _place():
    """A lab of its own, beside one that a user may have up."""
    name = os.environ.setdefault("HETSORT_LAB_NAME", "hetsort-experiment")
    return place_from({**os.environ, "HETSORT_LAB_NAME": name}, os.geteuid())


class Stage:
    """The operations of an experiment on the lab of `file`, which is up, with `records` records."""

    def __init__(self, place, file, state, records):
        self._place, self._file, self._state = place, file, state
        self._measured = []
        self.records = records
        self.names = [host["name"] for host in state["hosts"]]
        self.notes = []

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)
            measure.say(f"note: {text}")

    def probe(self):
        """The present speeds of the hosts, in parts of a core."""
        measured = probe.measure(self._state)
        self._measured = self._measured or measured
        return [values["cpu"] for values in measured]

    def bandwidths(self):
        """Bytes per second to each host, as probed."""
        return [values["bandwidth"] for values in self._measured]

    def without_links(self):
        """Why the links have not the bandwidth that the file gives them, or ""."""
        return next(filter(None, (change.left_out(host, "bandwidth") for host in self._state["hosts"])), "")

    def without_outside(self):
        """Why no thread can be outside the quotas, or ""."""
        return outside_quotas.missing(self._state)

    def set(self, host, **values):
        """Changes a host from now on."""
        self._state = change.change(self._place, self._file, host, values)

    # --- commands on the hosts ---------------------------------------------------------------------------------------

    def command(self, words, ranks=(), outside=""):
        """The whole command of `hetsort WORDS` on all hosts. `ranks`: the host of each rank, by default one rank per host.
        `outside`: the names of threads that are outside the quotas of their hosts, separated by commas."""
        where = [*(["--outside", outside] if outside else []),
                 *(["--burners"] if self._state["mode"] == "burners" else []), *(["--ranks", ",".join(ranks)] if ranks else [])]
        return [LAB, "run", *where, self._file, "--", "hetsort", *words]

    def run(self, words, ranks=()):
        """Runs the command to its end. Throws: LabError with the output of the command."""
        done = subprocess.run(self.command(words, ranks), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False, timeout=PATIENCE_SECONDS)
        if done.returncode:
            raise LabError(f"{shlex.join(['hetsort', *words])} ended with {done.returncode}: {done.stderr}")

    def run_other(self, words):
        """Runs another program than hetsort, one rank per host. Returns what it prints. Throws: LabError."""
        where = ["--burners"] if self._state["mode"] == "burners" else []
        done = subprocess.run([LAB, "run", *where, self._file, "--", *words], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False, timeout=PATIENCE_SECONDS)
        if done.returncode:
            raise LabError(f"{shlex.join(words)} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def own(self, name):
        """Path of a file of each rank, on the disk of its host."""
        return os.path.join(self._state["disks"], "by-rank", "{rank}", name + ".{rank}")

    def common(self, name):
        """Path of a file that all hosts see."""
        folder = os.path.join(self._state["disks"], "_common")  # not a valid host name
        os.makedirs(folder, exist_ok=True)
        return os.path.join(folder, name)

    def generate(self, path, *options, ranks=(), records=None):
        """Generates records at this path. The options plan the share of each rank."""
        self.run(["gen", "-j", "1", "--no-sync", *options, str(records or self.records), path], ranks)
        return path

    def sort(self, source, *options, ranks=(), sync=False, outside="", out=""):
        """A contender that sorts `source` to `out` or to one file per rank, with one computing thread per rank. Inputs are read into the
        page cache beforehand, on account of no host. By default outputs are not synced, because the hosts share one disk."""
        report = self.common("report.json")
        words = ["sort", "-q", "-j", "1", *([] if sync else ["--no-sync"]), *options, source, "-o", out or self.own("out"), "--report", report]
        pattern = "*".join(glob.escape(part) for part in source.split("{rank}"))
        return measure.Contender(self.command(words, ranks, outside), report=report, inputs=[pattern], sorter="hetsort")

    def calibrate(self):
        """Returns the path of the new cluster file, and the seconds that it took. Each rank measures on its host's disk."""
        path = self.common("calibrated.toml")
        begin = time.monotonic()
        self.run(["calibrate", "-q", "-j", "1", "-T", os.path.dirname(self.own("")), "-o", path])
        return path, time.monotonic() - begin

    def calibrated(self):
        """Calibrates. Returns a contender that plans with the new cluster file, and the seconds of the calibration. The file
        predicts whole sorts, so that this contender syncs its output. An earlier such contender must not run any more."""
        path, took = self.calibrate()
        cluster = ["--cluster", path]
        return self.sort(self.generate(self.own("in-calibrated"), *cluster), *cluster, sync=True), took

    def _ready(self, records):
        for path in glob.glob(os.path.join(glob.escape(self._state["disks"]), "*", "out.*")):
            with contextlib.suppress(FileNotFoundError):  # by-rank has links to the same files
                os.unlink(path)
        return measure.TouchedMemory(MEMORY_OF_A_RUN * records * measure.RECORD)

    def once(self, contender, changes=()):
        """Runs once. Returns the report, which becomes no part of a setting, and the seconds from the launch to the end.
        `changes`: (seconds after the launch, host, values), each as for set()."""
        touched = self._ready(self.records)
        measure.read_inputs(contender)
        timers = [threading.Timer(after, self.set, (host,), values) for after, host, values in changes]
        for timer in timers:
            timer.start()
        wall = measure.timed(contender, touched).wall
        for timer in timers:
            timer.join()
        with open(contender.report, encoding="utf-8") as file:
            return json.load(file), wall

    def rounds(self, title, contenders, rounds, records):
        """Calls these contenders in turns. Each returns a report. Returns the setting, without commands."""
        measure.say(f"{title}: {rounds} rounds")
        reports = {name: [] for name in contenders}
        for number in range(rounds):
            for name, contender in contenders.items():
                self._ready(records).release()
                reports[name].append(contender())
                measure.say(f"  {number + 1}/{rounds} {name}: {reports[name][-1]['seconds']:.3f} s")
        return {**self._about(title, rounds, records), "dropped": dict.fromkeys(contenders, 0), "reports": reports}

    def _about(self, title, rounds, records):
        """The part of a setting that does not depend on the contenders."""
        shown = [{key: host[key] for key in ("name", "cpu", "bandwidth")} for host in self._state["hosts"]]
        for host, measured in zip(shown, self._measured):
            host["measured"] = measured
        return {"title": title, "file": os.path.relpath(self._file, TOP), "mode": self._state["mode"], "records": records,
                "rounds": rounds, "notes": self.notes, "hosts": shown}

    def compare(self, title, contenders, rounds, records=None):
        """Runs these contenders in turns. Returns the setting."""
        records = records or self.records
        measure.say(f"{title}: {rounds} rounds")
        runs = measure.in_turns(contenders, rounds, lambda: self._ready(records))
        kept = {name: measure.without_outliers(name, contenders[name].command, series) for name, series in runs.items()}
        return {**self._about(title, rounds, records),
                "commands": {name: self.shown(one.command) for name, one in contenders.items()},
                "dropped": {name: series.dropped for name, series in kept.items()},
                "reports": {name: [run.report for run in series.runs] for name, series in kept.items()}}

    def predictions(self, title, rounds):
        """Calibrates several times and checks each calibration by at most PREDICTION_ROUNDS runs directly after it, before the
        machine changes. Returns the setting of these runs, and the contender of the last calibration."""
        whole, contender = {}, None
        for number in range(CALIBRATIONS):
            contender, took = self.calibrated()
            one = self.compare(f"{title}, directly after calibrate", {f"calibration {number + 1}": contender},
                               min(PREDICTION_ROUNDS, rounds))
            whole = whole or {**one, "commands": {}, "dropped": {}, "reports": {}, "calibrate_seconds": []}
            whole["calibrate_seconds"].append(took)
            for what in ("commands", "dropped", "reports"):
                whole[what].update(one[what])
        return whole, contender

    def shown(self, command):
        """The command as a reader would type it, in the project's folder."""
        text = shlex.join(command).replace(LAB, "./dev lab").replace(os.path.join(TOP, ""), "")
        return text.replace(self._state["disks"], "DISKS")


@contextlib.contextmanager
def stage(file, records, burners=False):
    """The lab of docs/examples/FILE during the `with` block. It is down afterwards in any case. Throws: LabError."""
    place, path = _place(), os.path.join(TOP, "docs", "examples", file)
    hosts.down(place)  # an experiment that was killed may have left one
    state, _ = hosts.up(place, path, lab_main.mode(burners))
    try:
        yield Stage(place, path, state, records)
    finally:
        hosts.down(place)
