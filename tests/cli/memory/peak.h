// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The memory that a command line takes.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <functional>

#include "tests/io/scratch.h"

namespace hetsort::cli::test {

inline constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

/// The most MiB that a process of `work` had in memory at once. It runs in a child, so that others do not count.
inline int peak_mib(const std::function<void()>& work) {
  // An exit code has 8 bits.
  constexpr int kMibOfCode = 8;
  return kMibOfCode * io::test::in_child([&] {
           work();
           rusage usage{};
           if (::getrusage(RUSAGE_CHILDREN, &usage) != 0) return 255;
           return static_cast<int>(std::min<long>(255, usage.ru_maxrss / 1024 / kMibOfCode));
         });
}

}  // namespace hetsort::cli::test
