// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Fault plans: which call of which kind fails, and how. Internal to io/; set_fault_plan() is in system_calls.h.
#pragma once

#include "io/calls/system_calls.h"

namespace hetsort::io {

struct Fault {
  enum class Kind : std::uint8_t { kNone, kErrno, kShort, kCorrupt, kDelay };
  Kind kind = Kind::kNone;
  int value = 0;  ///< errno, or milliseconds of delay
};

/// Counts one call of `kind` and returns the fault that the plan has for it. Costs one load when there is no plan.
/// Thread safety: any thread.
Fault next_fault(Call kind);

}  // namespace hetsort::io
