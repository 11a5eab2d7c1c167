# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the Python package of the source tree, the library of the build, and Debian's NumPy and mpi4py."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.join(HERE, "..", "..", "lib", "python")
LIBRARY = os.path.join(os.environ.get("HETSORT_LAB_BUILD", "."), "libhetsort.so.0")
#: The library with the faults of $HETSORT_FAULTS.
FAULTY_LIBRARY = os.environ.get("HETSORT_FAULTY_LIBRARY", "tests/machinery/libhetsort_faulty.so")
SEED = int(os.environ.get("HETSORT_TEST_SEED", "1"))
DEBIAN = "/usr/lib/python3/dist-packages"

os.environ.setdefault("HETSORT_LIBRARY", LIBRARY)
sys.path.insert(0, PACKAGE)
# Debian's packages, if another interpreter of the same version runs this.
sys.path.append(DEBIAN)
try:
    import numpy
except ImportError:
    numpy = None
