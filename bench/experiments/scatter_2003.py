# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Scattering from one root over unequal links (Genaud, Giersch and Vivien 2003, section 5): equal shares, planned ones, and
planned ones in the wrong order."""
import json
import random
import subprocess

from lab import launch

from . import samples
from .stage import stage

NAME, ROUNDS, RECORDS = "scatter-2003", 5, 12_000_000
RECORD, SEED = 16, 2003
PIECE = 1 << 16  # records made at once
TITLE = "Scattering from one root over unequal links, after the experiment of 2003"
FILE = "lab-2003.toml"
EQUAL, DESCENDING, ASCENDING = "equal, descending", "planned, descending", "planned, ascending"

ABOUT = """
**What is measured.** Five hosts of unequal processors and links. Only the root has the input (`--root-input`): it sends one
host after the other its share and keeps its own for the end. Records have 16 random bytes, 10 of them the key, so that a
byte is more work to sort than to send. A host finishes when it has received and sorted its share,
the column "runs formed"; what follows, the exchange of the sorted records, is in the seconds and not in the paper.
"Planned" is `scatter-closed` with linear costs: of a link as the probe measured it, times a factor for what the root
needed beside; of a host as two runs with equal shares showed it. Descending: the widest link is served first.
"""
NOT_MEASURED = """
**What is not measured.** Sending is a larger part of the work here than in the paper, where a ray took ten to a thousand
times as long to trace as to send. `auto`, which plans no scatter. 16 processors.
"""


def _costs(lab, reports):
    """Seconds a record of each host's link and processor, from runs with equal shares in the order of the file."""
    links = [RECORD / rate for rate in lab.bandwidths()]
    factors, computes = [], []
    for report in reports:
        ranks = report["ranks"]
        sending = next(phase for phase in ranks[0]["phases"] if phase["name"] == "scatter")
        plain = sum(link * rank["input_records"] for link, rank in zip(links[1:], ranks[1:]))
        factors.append((sending["end"] - sending["begin"]) / plain)
        served, compute = sending["begin"], []
        for link, rank, end in zip(links[1:], ranks[1:], samples.ends(report, samples.FORMED)[1:]):
            served += link * factors[-1] * rank["input_records"]
            compute.append(max(1e-9, (end - served) / rank["input_records"]))
        own = (samples.ends(report, samples.FORMED)[0] - sending["end"]) / ranks[0]["input_records"]
        computes.append([own, *compute])
    factor = sum(factors) / len(factors)
    return [0.0, *(link * factor for link in links[1:])], [sum(each) / len(each) for each in zip(*computes)]


def _cluster(path, names, links, computes):
    with open(path, "w", encoding="utf-8") as file:
        for name, link, compute in zip(names, links, computes):
            file.write(f'[[node]]\nname = "{name}"\n' + "root = true\n" * (link == 0) +
                       f'compute = {{ kind = "linear", per_record = {compute:.4e} }}\n'
                       f'receive = {{ kind = "linear", per_record = {link:.4e} }}\n')
    return path


def _shares(cluster, records):
    """Planned for the order of the cluster file; by name, because the root stands last in a plan."""
    command = launch.resolved(["hetsort", "plan", "-n", str(records), "--cluster", cluster, "--strategy", "scatter-closed",
                               "--order", "given", "--format", "json"])
    plan = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return {node["name"]: node["records"] for node in plan["nodes"]}


def _random_records(path, records):
    dice = random.Random(SEED)
    with open(path, "wb") as file:
        for first in range(0, records, PIECE):
            file.write(dice.randbytes(min(PIECE, records - first) * RECORD))
    return path


def measure(options):
    with stage(FILE, options.records, options.burners, RECORD) as lab:
        lab.probe()
        source = _random_records(lab.common("in"), options.records)

        def scatter(*words, ranks=()):
            return lab.sort(source, "--root-input", "--record-size", str(RECORD), "--key", "0:10", *words, ranks=ranks)

        equal = scatter("--strategy", "equal")
        links, computes = _costs(lab, [lab.once(equal) for _ in range(3)][1:])
        nodes = list(zip(lab.names, links, computes))
        # A strategy that is none of a scatter sends in rank order: shares given as speeds, ranks in the order wanted.
        upwards = [nodes[0], *sorted(nodes[1:], key=lambda node: -node[1])]
        shares = _shares(_cluster(lab.common("ascending.toml"), *zip(*upwards)), options.records)
        names = [node[0] for node in upwards]
        cluster = _cluster(lab.common("measured.toml"), *zip(*nodes))
        contenders = {EQUAL: equal,
                      DESCENDING: scatter("--strategy", "scatter-closed", "--cluster", cluster),
                      ASCENDING: scatter("--strategy", "proportional", "--speeds",
                                         ",".join(str(max(1, shares[name])) for name in names), ranks=names)}
        for name, link, compute in nodes:
            lab.note(f"planned with: {name}, {compute:.3g} s a record, {link:.3g} s to send it")
        return [lab.compare("one root", contenders, options.rounds)]


def bars(settings):
    return [samples.apart_bar(settings[0], DESCENDING, samples.FORMED),
            samples.apart_bar(settings[0], ASCENDING, samples.FORMED, 0.10)]


def beside_the_paper(settings):
    one = settings[0]
    last = {name: samples.median_last(one, name, samples.FORMED) for name in (EQUAL, DESCENDING, ASCENDING)}
    apart = {name: samples.median_apart(one, name, samples.FORMED) for name in last}
    return [["finish spread, equal shares", "70 % (259 to 853 s)", f"{apart[EQUAL]:.0%}"],
            ["finish spread, planned, descending", "6 % (405 to 430 s)", f"{apart[DESCENDING]:.1%}"],
            ["finish spread, planned, ascending", "10 % (437 to 486 s)", f"{apart[ASCENDING]:.1%}"],
            ["last finish, planned descending / equal", "0.50", f"{last[DESCENDING] / last[EQUAL]:.2f}"],
            ["last finish, planned ascending / descending", "1.13", f"{last[ASCENDING] / last[DESCENDING]:.2f}"]]
