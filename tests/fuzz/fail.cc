// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// How a target ends under libFuzzer; driver.cc has its own.
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/fuzz.h"

namespace hetsort::fuzz::test {

void fail(const std::string& what) {
  std::fprintf(stderr, "fuzz: %s\n", what.c_str());
  std::abort();
}

}  // namespace hetsort::fuzz::test
