#!/usr/bin/python3
# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Sorts a memory map that is twice as large as the memory that this process may have.

    memmap.py [FOLDER [MEBIBYTES]]      makes a file of 2 x MEBIBYTES (default 160) in FOLDER (default .)
"""
import os
import resource
import sys

import numpy

import hetsort

folder = sys.argv[1] if len(sys.argv) > 1 else "."
limit = (int(sys.argv[2]) if len(sys.argv) > 2 else 160) << 20
# Memory of this process that no file holds: NumPy's, Python's, and what the sort takes.
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))

record = numpy.dtype([("id", "<u8"), ("value", "<f8"), ("place", "<u8")])
count = 2 * limit // record.itemsize
path = os.path.join(folder, "records.bin")
records = numpy.memmap(path, record, "w+", shape=count)
random = numpy.random.default_rng(1)
for begin in range(0, count, 1 << 18):
    piece = records[begin:begin + (1 << 18)]
    piece["id"] = random.integers(0, 1000, len(piece))
    piece["value"] = random.standard_normal(len(piece))
    piece["place"] = numpy.arange(begin, begin + len(piece))

hetsort.sort(records, order=[("id", "asc"), ("value", "desc")], memory=limit // 4)

for begin in range(0, count - 1, 1 << 18):
    piece = records[begin:begin + (1 << 18) + 1]
    low, high = piece[:-1], piece[1:]
    assert ((low["id"] < high["id"]) | ((low["id"] == high["id"]) & (low["value"] >= high["value"]))).all()
print(f"{count} records, {records.nbytes >> 20} MiB, are in order; the limit is {limit >> 20} MiB")
os.unlink(path)
