// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The rules of a fault plan, and the faults that follow from them.
#pragma once

#include <cstdint>
#include <string>

#include "io/calls/kernel.h"

namespace hetsort::machinery {

struct Fault {
  enum class Kind : std::uint8_t { kNone, kErrno, kShort, kCorrupt, kDelay };
  Kind kind = Kind::kNone;
  int value = 0;  ///< errno, or milliseconds of delay
};

/// Reads the text of set_fault_plan(). Throws: as that.
void set_fault_rules(const std::string& text);
/// Counts one call of `kind` and returns the fault that the rules have for it. Thread safety: any thread.
Fault next_fault(io::Call kind);
/// Faults since the rules were set.
std::uint64_t rules_fired();

}  // namespace hetsort::machinery
