// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Fault plans: which call of which kind fails, and how.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace hetsort::io {

/// The kinds of calls on files.
enum class Call : std::uint8_t {
  kOpen,
  kRead,
  kWrite,
  kSync,
  kAllocate,
  kTruncate,
  kLink,
  kRename,
  kStat,
  kChmod,
  kUnlink,
  kMap
};
inline constexpr std::size_t kCallKinds = 12;

/// Makes calls fail on purpose. `text` is a comma-separated list of KIND:N:FAULT with KIND one of open, read, write,
/// sync, allocate, truncate, link, rename, stat, chmod, unlink, map; N = the n-th call of that kind from now on,
/// counted from 1, or N+ for that one and all after it, or ~N for one call in N at random; FAULT = an errno name (EIO,
/// ENOSPC, EINTR, EACCES, ENOMEM, EINVAL, EDQUOT, EFAULT, ENOENT, ENOSYS, EPERM), short (half the bytes), corrupt (one
/// bit flipped), or delayMS. "" removes the plan. The environment variable HETSORT_FAULTS, read at the first call, sets
/// one too; HETSORT_FAULT_SEED seeds ~N. Throws: std::invalid_argument on anything else. Thread safety: not while other
/// threads make calls.
void set_fault_plan(const std::string& text);
/// The number of faults of the plan that have fired.
std::uint64_t faults_fired();

struct Fault {
  enum class Kind : std::uint8_t { kNone, kErrno, kShort, kCorrupt, kDelay };
  Kind kind = Kind::kNone;
  int value = 0;  ///< errno, or milliseconds of delay
};

/// Counts one call of `kind` and returns the fault that the plan has for it. The system call layer calls it before each
/// call. Costs one load when there is no plan. Thread safety: any thread.
Fault next_fault(Call kind);

}  // namespace hetsort::io
