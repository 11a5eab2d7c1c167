#!/usr/bin/env python3
# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
#
# A strategy for `hetsort plan -n 1000000 --speeds 1,2,4 --strategy exec:docs/examples/strategy-speeds.py`: shares in
# proportion to the speeds of the nodes. docs/formats/strategy.md describes what it reads and prints.
import json
import sys

problem = json.load(sys.stdin)
records = problem["records"]
speeds = [node.get("speed", 1) for node in problem["nodes"]]
shares = [int(records * speed / sum(speeds)) for speed in speeds]
shares[speeds.index(max(speeds))] += records - sum(shares)
print(json.dumps({"shares": shares}))
