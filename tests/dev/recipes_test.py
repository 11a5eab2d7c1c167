#!/usr/bin/env python3
# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""recipes_test.py FOLDER VERSION: runs the recipes of Spack and EasyBuild with stand-ins for the two, which record what
the recipes declare, and checks it."""
import pathlib
import sys
import types

folder, version = pathlib.Path(sys.argv[1]), sys.argv[2]


def spack_recipe():
    """What the recipe declares: a list of (directive, arguments), and the class."""
    declared = []
    package = types.ModuleType("spack.package")
    for name in ["conflicts", "depends_on", "generator", "license", "variant", "version"]:
        setattr(package, name, lambda *words, name=name, **how: declared.append((name, words, how)))
    cmake = types.ModuleType("spack_repo.builtin.build_systems.cmake")
    cmake.CMakePackage = type("CMakePackage", (), {
        "define": lambda self, name, value: f"-D{name}={value}",
        "define_from_variant": lambda self, name, variant: f"-D{name}={variant}"})
    for name in ["spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"]:
        sys.modules[name] = types.ModuleType(name)
    sys.modules |= {"spack.package": package, "spack_repo.builtin.build_systems.cmake": cmake}
    names = {}
    exec(compile((folder / "package.py").read_text(), "package.py", "exec"), names)
    return declared, names["Hetsort"]


declared, recipe = spack_recipe()
assert ("version", (version,), {}) in declared, "Spack's recipe is for another version"
variants = {words[0] for name, words, _ in declared if name == "variant"}
for name, words, how in declared:
    assert name != "depends_on" or how.get("when", "+mpi")[1:] in variants, f"{words}: no such variant"
assert all(argument.startswith("-DHETSORT_") for argument in recipe().cmake_args())

easyconfig = {"SOURCE_TAR_GZ": "%(name)s-%(version)s.tar.gz"}
(path,) = folder.glob("*.eb")
exec(compile(path.read_text(), path.name, "exec"), easyconfig)
toolchain = easyconfig["toolchain"]
assert easyconfig["version"] == version, "EasyBuild's recipe is for another version"
assert path.name == f"{easyconfig['name']}-{version}-{toolchain['name']}-{toolchain['version']}.eb", "misnamed"
for name in ["easyblock", "description", "homepage", "moduleclass"]:
    assert name in easyconfig, f"EasyBuild's recipe lacks {name}"
