// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Linked into a program, this makes it fail as its environment says from its start on.
#include <unistd.h>

#include <cstdio>
#include <exception>

#include "tests/machinery/environment.h"

namespace hetsort::machinery {
namespace {

[[maybe_unused]] const bool used = [] {
  try {
    use_faults_of_environment();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hetsort: %s\n", error.what());
    ::_exit(2);
  }
  return true;
}();

}  // namespace
}  // namespace hetsort::machinery
