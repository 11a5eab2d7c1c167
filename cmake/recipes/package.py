# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Spack. In a checkout, with this file in a package repository as packages/hetsort/package.py:

spack dev-build hetsort@0.1.0
"""
from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Hetsort(CMakePackage):
    """Sorts records and lines on clusters whose machines are not alike."""

    license("Apache-2.0")

    version("0.1.0")

    variant("mpi", default=True, description="Sort on many machines")
    variant("uring", default=True, description="Transfer files by io_uring")
    variant("glpk", default=True, description="Plan by linear programs")

    generator("ninja")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("boost@1.74: +program_options+math")
    depends_on("fmt@9:")
    depends_on("highway@1.0.3:")
    depends_on("isa-l")
    depends_on("nlohmann-json@3.11:")
    depends_on("tbb")
    depends_on("tomlplusplus@3.3:")
    depends_on("xxhash@0.8.1:")
    depends_on("mpi", when="+mpi")
    depends_on("liburing@2.3:", when="+uring")
    depends_on("glpk", when="+glpk")

    conflicts("%gcc@:11", msg="hetsort needs C++20")
    conflicts("platform=darwin", msg="hetsort needs Linux")

    def cmake_args(self):
        return [
            self.define_from_variant("HETSORT_MPI", "mpi"),
            self.define_from_variant("HETSORT_URING", "uring"),
            self.define("HETSORT_TESTS", False),
            self.define("HETSORT_BENCHMARKS", False),
        ]
