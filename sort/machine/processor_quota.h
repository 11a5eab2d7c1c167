// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Processor time of the process: how much the control groups allow (versions 1 and 2, its own group and all above), how
// much it has used, and how much the host of a virtual machine has taken away.
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

/// The quota of the group with the fewest processors; nullopt without a limit. Thread safety: any thread.
std::optional<ProcessorQuota> read_processor_quota(const KernelFiles& files = {});

/// How long quotas have stopped the groups so far, added up over processors; 0 if the kernel does not show it. Thread
/// safety: any thread.
double throttled_seconds(const KernelFiles& files = {});

/// Processor time of all threads of this process so far.
double processor_seconds();

/// Steal time since the start of this virtual machine: how long its host ran others while this machine wanted a
/// processor, on average over its processors; 0 if the kernel does not show it. Resolution: 0.01 s of one processor.
/// Thread safety: any thread.
double stolen_seconds(const KernelFiles& files = {});

}  // namespace hetsort::sort
