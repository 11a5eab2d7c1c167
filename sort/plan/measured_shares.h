// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Output shares by what the ranks have just shown of themselves, for jobs that know nothing of their machines.
//
// In: on each rank, how many records it formed into runs in how many seconds. Out: on all ranks, the same shares.
// Idea: all ranks begin to merge together, once the last has formed its runs, and merging is linear in records: each
// record is compared along one path of a tree, written once, and travels at most once. So shares in proportion to the
// rates let all end together. The rate comes from another phase, but one that passes the same bytes through the same
// processors, memory and disks.
// Cost: one reduction of O(ranks) numbers.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "sort/machine/processor_quota.h"
#include "sort/plan/shares.h"

namespace hetsort::sort {

/// Shares of `records` in proportion to the rates; pure. Who worked too little to be measured counts as the mean of
/// the others, or as what it has done at least if that is more; nobody measured = equal shares. No rate counts as more
/// than 16 times above or below their median.
Shares shares_by_rates(std::uint64_t records, std::span<const Work> work);

/// What forming runs has taken of a rank's machine.
struct Spent {
  double seconds = 0;            ///< on the clock
  double processor_seconds = 0;  ///< of all threads
};

/// The seconds that tell the rank's rate. On the clock, but where a quota of processor time stopped the rank: then what
/// the work used of the processors, at the rate at which the quota gives them. The clock would count how many periods
/// have begun in a short time, which is luck.
double seconds_of_work(const Spent& spent, const std::optional<ProcessorQuota>& quota, std::size_t threads);

/// Whether it tells a rate: shorter times are those of waking threads and opening files.
bool is_measured(const Work& work);

/// The work of all ranks, in rank order. Collective. Throws: PeerFailed; std::runtime_error for impossible seconds.
std::vector<Work> gather_work(const Work& mine, comm::Communicator& ranks);

}  // namespace hetsort::sort
