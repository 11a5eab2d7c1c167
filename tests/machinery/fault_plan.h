// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Fault plans: which call on files of which kind fails, and how.
#pragma once

#include <cstdint>
#include <string>

namespace hetsort::machinery {

/// Makes calls fail on purpose. `text` is a comma-separated list of KIND:N:FAULT with KIND one of open, read, write,
/// sync, allocate, truncate, link, rename, stat, chmod, unlink, map; N = the n-th call of that kind from now on,
/// counted from 1, or N+ for that one and all after it, or ~N for one call in N at random; FAULT = an errno name (EIO,
/// ENOSPC, EINTR, EACCES, ENOMEM, EINVAL, EDQUOT, EFAULT, ENOENT, ENOSYS, EPERM), short (half the bytes), corrupt (one
/// bit flipped), or delayMS. "" removes the plan. The environment variable HETSORT_FAULT_SEED seeds ~N.
/// Throws: std::invalid_argument on anything else. Thread safety: not while other threads make calls.
void set_fault_plan(const std::string& text);
/// The number of faults of the plan that have fired.
std::uint64_t faults_fired();

}  // namespace hetsort::machinery
