// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The seam's faults: which call of which kind goes wrong, and how. Internal to io/; set_fault_plan() is in seam.h.
#pragma once

#include "io/calls/seam.h"

namespace hetsort::io {

struct Fault {
  enum class Kind : std::uint8_t { kNone, kErrno, kShort, kCorrupt, kDelay };
  Kind kind = Kind::kNone;
  int value = 0;  ///< errno, or milliseconds of delay
};

/// Counts one call of `kind` against the plan and tells what is to go wrong with it. Costs one load when there is no
/// plan. Thread safety: any thread.
Fault next_fault(Call kind);

}  // namespace hetsort::io
