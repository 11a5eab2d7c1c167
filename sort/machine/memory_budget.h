// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// How much memory the process may use before the system stops it, from whatever sets a limit: the control groups it is
// in (v1 and v2, its own and all above), the limit on its address space, and what the machine has free.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sort/machine/control_group.h"

namespace hetsort::sort {

/// In bytes; nullopt where nothing limits.
struct MemoryLimits {
  std::uint64_t total = 0;                     ///< the machine's memory
  std::uint64_t available = 0;                 ///< of it, what new work can have without pushing others out
  std::optional<std::uint64_t> control_group;  ///< the smallest along the whole path
  std::optional<std::uint64_t> address_space;  ///< RLIMIT_AS less what is mapped already

  /// What percent sizes are of: the machine's memory or the control group's limit.
  std::uint64_t physical() const;
  /// The smallest of all: the default budget is a share of it.
  std::uint64_t usable() const;
  /// What sets usable(): "control group", "address space (ulimit -v)" or "available memory".
  std::string binding() const;
};

/// Files that are missing or unreadable limit nothing. Thread safety: any thread.
MemoryLimits read_memory_limits(const KernelFiles& files = {});

/// The most memory this process had resident so far.
std::uint64_t peak_rss_bytes();

}  // namespace hetsort::sort
