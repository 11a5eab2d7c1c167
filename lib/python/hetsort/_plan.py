# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Planning: how many records each of several unequal nodes gets."""
from __future__ import annotations

from typing import Iterable, NamedTuple, Optional

from ._library import Options, last_error


class Node(NamedTuple):
    """What a plan gives a node, and when the node will have finished it."""

    name: str
    records: int
    finish: float


class Plan(NamedTuple):
    """Shares of all nodes. Times are seconds if the costs are, else units of work."""

    strategy: str
    records: int
    makespan: float
    lower_bound: float
    nodes: list[Node]

    @property
    def shares(self) -> list[int]:
        """The records of each node, in the order of the nodes."""
        return [node.records for node in self.nodes]


def plan(records: int, *, speeds: Optional[Iterable[float]] = None, cluster: object = None,
         strategy: Optional[str] = None, **options: object) -> Plan:
    """Shares records among nodes so that all finish at the same time, as ``hetsort plan`` does.

    Args:
        records: how many there are.
        speeds: relative speeds of the nodes; or
        cluster: path of a cluster file (docs/formats/cluster.md).
        strategy: as on the command line.
        options: further options of the program.

    Throws: RequestError.
    """
    import json  # pylint: disable=import-outside-toplevel

    call = Options()
    call.set("records", records)
    call.set("speeds", None if speeds is None else ",".join(repr(float(speed)) for speed in speeds))
    call.set("cluster", cluster)
    call.set("strategy", strategy)
    call.set_more(options)
    text = call._lib.hetsort_plan(call.handle, None, 0)  # pylint: disable=protected-access
    if text is None:
        raise last_error()
    found = json.loads(text)
    nodes = [Node(node["name"], node["records"], node["finish"]) for node in found["nodes"]]
    return Plan(found["strategy"], found["records"], found["makespan"], found["lower_bound"], nodes)
