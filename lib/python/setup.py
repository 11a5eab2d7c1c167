# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Adds the library for C to the package. $HETSORT_BUILD_DIR names a build of it; without one CMake makes it."""
import os
import shutil
import subprocess
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # setuptools before 70.1
    from wheel.bdist_wheel import bdist_wheel

SOURCE = Path(__file__).resolve().parents[2]
LIBRARY = "libhetsort.so.0"


def built_library(folder: Path) -> Path:
    """The library for C, in a build that exists or that is made in `folder`."""
    given = os.environ.get("HETSORT_BUILD_DIR")
    if given:
        return Path(given) / LIBRARY
    if not (SOURCE / "CMakeLists.txt").exists():
        raise SystemExit("hetsort is built from its whole source tree: pip install ./lib/python")
    options = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=40",
               "-DHETSORT_TESTS=OFF", "-DHETSORT_BENCHMARKS=OFF"]
    subprocess.run(["cmake", "-S", str(SOURCE), "-B", str(folder), *options], check=True)
    subprocess.run(["cmake", "--build", str(folder), "--target", "hetsort_shared"], check=True)
    return folder / LIBRARY


class BuildWithLibrary(build_py):
    """Copies the library into the package."""

    def run(self) -> None:
        super().run()
        into = Path(self.build_lib) / "hetsort"
        into.mkdir(parents=True, exist_ok=True)
        temporary = Path(self.get_finalized_command("build").build_temp).resolve() / "cmake"
        shutil.copyfile(built_library(temporary), into / LIBRARY)


class PlatformWheel(bdist_wheel):
    """A wheel for any Python of this platform: the library is called through ctypes."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self) -> tuple:
        return ("py3", "none", super().get_tag()[2])


class WithLibrary(Distribution):
    """A package that depends on the platform."""

    def has_ext_modules(self) -> bool:
        return True


setup(distclass=WithLibrary, cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel})
