// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// How much of the processors the process gets: what the control groups let it use (v1 and v2, its own group and all
// above), what it used, and what the host of a virtual machine kept.
#pragma once

#include <optional>

#include "sort/machine/control_group.h"

namespace hetsort::sort {

/// The kernel lets the group use its processors for `processors` * `period_seconds` in each period, then stops it until
/// the next begins.
struct ProcessorQuota {
  double processors = 0;
  double period_seconds = 0;
};

/// That of the group with the fewest processors; nullopt where nothing limits. Thread safety: any thread.
std::optional<ProcessorQuota> read_processor_quota(const KernelFiles& files = {});

/// Of all threads of this process so far.
double processor_seconds();

/// For how long the host of this virtual machine let others use a processor that this one wanted ("steal"), since its
/// start, on average of its processors; 0 where the kernel does not tell. Grain: 0.01 s of one processor. Thread
/// safety: any thread.
double stolen_seconds(const KernelFiles& files = {});

}  // namespace hetsort::sort
