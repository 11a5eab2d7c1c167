// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// How much memory the process may use before the system stops it. Limits are set by the control groups it is in
// (versions 1 and 2, its own group and all above), by ulimit -v, and by the free memory of the machine.
#pragma once

#include <cstdint>
#include <optional>

#include "sort/machine/control_group.h"

namespace hetsort::sort {

/// Limits in bytes; nullopt without a limit.
struct MemoryLimits {
  std::uint64_t total = 0;                     ///< the machine's memory
  std::uint64_t available = 0;                 ///< memory that new work can use without swapping others out
  std::optional<std::uint64_t> control_group;  ///< the smallest along the whole path
  std::optional<std::uint64_t> address_space;  ///< RLIMIT_AS minus what is mapped already

  /// The memory to which percentages refer: the machine's, or the control group's limit if that is less.
  std::uint64_t physical() const;
  /// The smallest of all limits: the default budget is a fraction of it.
  std::uint64_t usable() const;
  /// What a process can reserve at most: the machine's or the control group's memory, and three quarters of the address
  /// space that is left, because other things than its records need some.
  std::uint64_t reservable() const;
  /// How many written bytes of all ranks of the host the page cache can hold beside sorts with the default budget. The
  /// cache counts as memory of the control group, and a kernel may end a process while all of it waits for the disk.
  std::uint64_t cacheable_bytes() const;
};

/// Reads the limits. Files that are missing or unreadable limit nothing. Thread safety: any thread.
MemoryLimits read_memory_limits(const KernelFiles& files = {});

/// The largest resident memory of this process so far.
std::uint64_t peak_rss_bytes();

}  // namespace hetsort::sort
