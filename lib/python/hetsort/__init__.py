# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Sorts records of files and arrays on machines that are not alike.

    import hetsort

    hetsort.sort(array, order=[("id", "asc"), ("value", "desc")])   # a NumPy array, in place
    hetsort.sort_file("big.dat", "sorted.dat", dtype=array.dtype)   # files of any size
    hetsort.plan(10**9, speeds=[1, 2, 4]).shares                    # records for unequal nodes

Calls release the interpreter's lock, and Ctrl-C ends them. With ``comm=`` the ranks of an mpi4py communicator work
together.
"""
import sys

if sys.version_info < (3, 11):
    raise ImportError(f"hetsort needs Python 3.11 or later; this is {sys.version.split()[0]}")

# pylint: disable=wrong-import-position
from ._layout import Order
from ._library import Cancelled, Error, FileError, OutOfMemory, ProofError, RequestError
from ._plan import Node, Plan, plan
from ._sort import argsort, sort, sort_file

__all__ = ["Cancelled", "Error", "FileError", "Node", "Order", "OutOfMemory", "Plan", "ProofError", "RequestError",
           "argsort", "plan", "sort", "sort_file"]
__version__ = "0.1.0"
