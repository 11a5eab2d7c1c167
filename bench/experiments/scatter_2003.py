# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Scattering from one root over unequal links (Genaud, Giersch and Vivien 2003, section 5): equal shares, planned ones, and
planned ones in the wrong order."""
import json
import random
import statistics
import subprocess

from lab import launch
from lab.system import LabError

from . import samples
from .stage import stage

NAME, ROUNDS, RECORDS = "scatter-2003", 5, 16_000_000
# Sorting records of 100 bytes in memory is less work than sending them, so that the root would be fastest alone. Short
# records with equal first bytes take more work for each byte sent.
RECORD, EQUAL_BYTES, SEED = 12, 10, 2003
RUNS_TO_FIT = 5
MAX_SHARE = 0.9  # of the records, for one host; beyond it the experiment shows nothing
TITLE = "Scattering from one root over unequal links, after the experiment of 2003"
FILE = "lab-2003.toml"
EQUAL, DESCENDING, ASCENDING = "equal, descending", "planned, descending", "planned, ascending"

ABOUT = """
**What is measured.** Five hosts with unequal processors and links. Only the root has the input (`--root-input`). It sends the
shares to one host after the other and keeps its own for the end. Records are keys of 12 bytes whose first 10 bytes are equal.
Sorting them is more work than sending them, as was tracing the rays of the paper; with records of 100 bytes the root would be
fastest alone. A host finishes when it has received and sorted its share (column "runs formed"). The seconds also contain the
exchange of the sorted records, which the paper does not have.
"Planned" is `scatter-closed` with linear costs. The cost of a link is that of the probe, or that of sending on the root if it
is higher. The cost of a host comes from runs with equal shares, and then from runs with a first plan. "Descending" serves the
widest link first, "ascending" the narrowest.
"""
NOT_MEASURED = """
**What is not measured.** Work that takes far longer than sending: tracing a ray of the paper took up to a thousand times as
long as sending it. `auto`, which plans no scatter. 16 processors.
"""


def _sending(links, counts, seconds):
    """Seconds per record of each link: those of the link itself, or those of the root if they are higher. They are such that
    sending all records takes `seconds`."""
    low, high = 0.0, seconds / min(counts)
    for _ in range(60):
        middle = (low + high) / 2
        if sum(count * max(link, middle) for link, count in zip(links, counts)) < seconds:
            low = middle
        else:
            high = middle
    return [max(link, low) for link in links]


def costs(report, rates):
    """Seconds per record of each host's link and processor, from a run that served the hosts in rank order, the root last.
    `rates`: bytes per second of the links."""
    root, *others = report["ranks"]
    counts = [max(1, rank["input_records"]) for rank in others]
    sending = next(phase for phase in root["phases"] if phase["name"] == "scatter")
    links = _sending([RECORD / rate for rate in rates[1:]], counts, sending["end"] - sending["begin"])
    own, *ends = samples.ends(report["ranks"], samples.FORMED)
    computes, served = [max(1e-9, (own - sending["end"]) / max(1, root["input_records"]))], sending["begin"]
    for link, count, end in zip(links, counts, ends):
        served += link * count
        computes.append(max(1e-9, (end - served) / count))
    return [0.0, *links], computes


def _fitted(lab, contender):
    """The costs as medians of several runs of this contender."""
    each = [costs(lab.once(contender)[0], lab.bandwidths()) for _ in range(RUNS_TO_FIT)]
    return [[statistics.median(values) for values in zip(*kind)] for kind in zip(*each)]


def write_cluster(path, names, links, computes):
    with open(path, "w", encoding="utf-8") as file:
        for name, link, compute in zip(names, links, computes):
            file.write(f'[[node]]\nname = "{name}"\n' + "root = true\n" * (link == 0) +
                       f'compute = {{ kind = "linear", per_record = {compute:.4e} }}\n'
                       f'receive = {{ kind = "linear", per_record = {link:.4e} }}\n')
    return path


def planned_shares(cluster, records):
    """Shares for the order of the cluster file, by host name, because the root is last in a plan. Throws: LabError if one host
    would be fastest alone: such a plan balances nothing."""
    command = launch.resolved(["hetsort", "plan", "-n", str(records), "--cluster", cluster, "--strategy", "scatter-closed",
                               "--order", "given", "--format", "json"])
    plan = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    shares = {node["name"]: node["records"] for node in plan["nodes"]}
    for name, share in shares.items():
        if share > MAX_SHARE * records:
            raise LabError(f"{NAME} shows nothing here: sending costs so much that with the costs of {cluster} "
                           f"{name} would do best with {share} of {records} records")
    return shares


def _make_records(path, count):
    dice, piece = random.Random(SEED), 1 << 20
    with open(path, "wb") as file:
        for first in range(0, count, piece):
            records = bytearray(b"=") * (RECORD * min(piece, count - first))
            for place in range(EQUAL_BYTES, RECORD):
                records[place::RECORD] = dice.randbytes(len(records) // RECORD)
            file.write(records)
    return path


def measure(options):
    with stage(FILE, options.records, options.burners) as lab:
        if why := lab.without_links():
            raise LabError(f"{NAME} is about unequal links. {why}")
        lab.probe()
        source = _make_records(lab.common("in"), options.records)

        def scatter(*words, ranks=()):
            layout = ["--record-size", str(RECORD), "--key", f"0:{RECORD}"]
            return lab.sort(source, "--root-input", *layout, *words, ranks=ranks)

        equal = scatter("--strategy", "equal")
        descending = scatter("--strategy", "scatter-closed", "--cluster", lab.common("measured.toml"))
        lab.once(equal)
        planned_shares(write_cluster(lab.common("measured.toml"), lab.names, *_fitted(lab, equal)), options.records)
        links, computes = _fitted(lab, descending)  # near the shares of the plan
        write_cluster(lab.common("measured.toml"), lab.names, links, computes)
        nodes = list(zip(lab.names, links, computes))
        # A strategy that plans no scatter sends in rank order: the shares are given as speeds, the order by the ranks.
        upwards = [nodes[0], *sorted(nodes[1:], key=lambda node: -node[1])]
        shares = planned_shares(write_cluster(lab.common("ascending.toml"), *zip(*upwards)), options.records)
        names = [node[0] for node in upwards]
        contenders = {EQUAL: equal,
                      DESCENDING: descending,
                      ASCENDING: scatter("--strategy", "proportional", "--speeds",
                                         ",".join(str(max(1, shares[name])) for name in names), ranks=names)}
        for name, link, compute in nodes:
            lab.note(f"planned with: {name}, {compute:.3g} s per record, {link:.3g} s to send it")
        return [lab.compare("one root", contenders, options.rounds)]


def bars(settings):
    return [samples.finish_spread_bar(settings[0], DESCENDING, samples.FORMED),
            samples.finish_spread_bar(settings[0], ASCENDING, samples.FORMED, 0.10)]


def beside_the_paper(settings):
    one = settings[0]
    last = {name: samples.median_last(one, name, samples.FORMED) for name in (EQUAL, DESCENDING, ASCENDING)}
    spread = {name: samples.median_finish_spread(one, name, samples.FORMED) for name in last}
    return [["finish spread, equal shares", "70 % (259 to 853 s)", f"{spread[EQUAL]:.0%}"],
            ["finish spread, planned, descending", "6 % (405 to 430 s)", f"{spread[DESCENDING]:.1%}"],
            ["finish spread, planned, ascending", "10 % (437 to 486 s)", f"{spread[ASCENDING]:.1%}"],
            ["last finish, planned descending / equal", "0.50", f"{last[DESCENDING] / last[EQUAL]:.2f}"],
            ["last finish, planned ascending / descending", "1.13", f"{last[ASCENDING] / last[DESCENDING]:.2f}"]]
