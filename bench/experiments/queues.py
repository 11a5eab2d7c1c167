# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Four sorts on four hosts: side by side by the critical number, or one after the other (Nakazawa 2005, chapter 3)."""
import concurrent.futures
import json
import re
import statistics
import subprocess

from lab.system import LabError

from . import samples
from .samples import Bar
from .stage import stage

NAME, ROUNDS, RECORDS = "queues", 5, 4_000_000
TITLE = "Four sorts that share four hosts: by the critical number, or all hosts for each"
CRITICAL, ALL = "critical", "all"
JOBS = ["w", "x", "y", "z"]
NEAR = 0.10
HELD = 0.65  # part of a sort that the memory of a host holds
BYTES_OF_A_RECORD = 116  # with its place in the index

ABOUT = """
**What is measured.** Four sorts of equal inputs arrive together. `hetsort plan --jobs` gives each of them hosts, from a
cluster file that `hetsort calibrate` has just written: the fewest that keep its records in memory, or all. Its memory is
replaced by that which the sorts are given (`-S`): 65 % of what one sort needs. The sorts then run on these hosts, each as soon as those before it on the same hosts have ended. A contender's seconds are the mean
turnaround time of the four sorts. It counts the seconds of the run reports, without the start of the launcher.
"""
NOT_MEASURED = """
**What is not measured.** Sorts that arrive later or differ in size. The input is in the page cache, and outputs are not synced.
"""


class Queue:
    """The four sorts on the hosts of a lab."""

    def __init__(self, lab, records):
        self._lab = lab
        lab.probe()
        self._cluster, self.calibrate_seconds = lab.calibrate()
        self._memory = str(int(HELD * BYTES_OF_A_RECORD * records))
        with open(self._cluster, encoding="utf-8") as file:
            text = file.read()
        with open(self._cluster, "w", encoding="utf-8") as file:
            file.write(re.sub(r"(?m)^memory = .*$", f"memory = {self._memory}", text))
        self._source = lab.generate(lab.common("in"))
        self._jobs = lab.common("jobs.toml")
        with open(self._jobs, "w", encoding="utf-8") as file:
            file.write("".join(f"[[job]]\nname = '{name}'\nrecords = {records}\n" for name in JOBS))

    def _run(self, words, hosts):
        done = subprocess.run(self._lab.command(words, hosts), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode:
            raise LabError(f"hetsort {words[0]} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def words(self, policy):
        return ["plan", "--jobs", self._jobs, "--cluster", self._cluster, "--no-sync", "--policy", policy, "--format", "json"]

    def plan(self, policy):
        return json.loads(self._run(self.words(policy), self._lab.names[:1]))

    def _sort(self, job):
        report = self._lab.common(f"report-{job['name']}.json")
        self._run(["sort", "-q", "-j", "1", "-S", self._memory, "--no-sync", "--cluster", self._cluster, self._source, "-o",
                   self._lab.common(f"out.{job['name']}.{{rank}}"), "--report", report], job["nodes"])
        with open(report, encoding="utf-8") as file:
            return json.load(file)

    def once(self, plan):
        """Runs the sorts as planned. Returns a report with the mean turnaround time and the ranks of all sorts."""
        order = sorted(plan["jobs"], key=lambda job: job["start"])
        with concurrent.futures.ThreadPoolExecutor(len(order)) as pool:
            ends = {}

            def sort_after(job, before):
                begin = max((ends[other].result()[0] for other in before), default=0)
                report = self._sort(job)
                return begin + report["seconds"], report["ranks"]

            for place, job in enumerate(order):
                before = [other["name"] for other in order[:place] if set(other["nodes"]) & set(job["nodes"])]
                ends[job["name"]] = pool.submit(sort_after, job, before)
            results = [end.result() for end in ends.values()]
        return {"seconds": statistics.mean(end for end, _ in results), "predicted_seconds": plan["mean_turnaround"],
                "ranks": [rank for _, ranks in results for rank in ranks]}


def measure(options):
    with stage("lab-queues.toml", options.records, options.burners) as lab:
        queue = Queue(lab, options.records)
        plans = {policy: queue.plan(policy) for policy in (CRITICAL, ALL)}
        yield {**lab.rounds("four sorts", {policy: lambda plan=plan: queue.once(plan) for policy, plan in plans.items()},
                            options.rounds, len(JOBS) * options.records),
               "commands": {policy: lab.shown(["hetsort", *queue.words(policy)]) for policy in plans},
               "hosts_of_a_sort": {policy: len(plan["jobs"][0]["nodes"]) for policy, plan in plans.items()}}


def bars(settings):
    found = []
    for one in settings:
        found.append(samples.ratio_bar(one, CRITICAL, ALL, 0.9))
        for name in (CRITICAL, ALL):
            ratio = statistics.median(samples.prediction_ratios(one, name))
            found.append(Bar(f"{one['title']}: {name}, measured / predicted", f"{ratio:.2f}", f"within {NEAR:.0%}", abs(ratio - 1) <= NEAR))
        hosts = one["hosts_of_a_sort"][CRITICAL]
        found.append(Bar(f"{one['title']}: hosts of a sort by the critical number", str(hosts), "2", hosts == 2))
    return found


def beside_the_paper(_settings):
    return []
