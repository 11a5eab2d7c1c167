// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Output shares by the rates at which the ranks formed their runs, and by the rate of their links if it was measured,
// for jobs without knowledge of the machines.
//
// In: on each rank, the records that it formed into runs and the seconds. Out: on all ranks, the same shares.
// Idea: all ranks begin to merge at the same time, when the last rank has formed its runs. Merging is linear in the
// records: each record is compared along one path of a tree, written once, and sent at most once. So with shares in
// proportion to the rates all ranks end at the same time. The rate is that of another phase, but that phase moves the
// same bytes through the same processors, memory and disks. If the rate of links is known, shares make the longest of
// three times as short as possible: that of merging, sending and receiving, of all ranks. Where links are the limit,
// shares are then nearly equal.
// Cost: one reduction of O(ranks) numbers.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "sort/machine/processor_quota.h"
#include "sort/model/shares.h"

namespace hetsort::sort {

/// Shares of `records` in proportion to the rates; pure. A rank that worked too little to be measured gets the mean of
/// the other rates, or its own lower bound if that is more. Without any measured rank shares are equal. Rates are
/// limited to a factor of 16 above and below their median.
Shares shares_by_rates(std::uint64_t records, std::span<const Work> work);

/// What is known of all ranks for the exchange.
struct MeasuredLinks {
  std::vector<std::size_t> host;     ///< host of each rank; ranks with the same number share a link
  std::vector<std::uint64_t> input;  ///< records that each rank has
  double bytes_per_second = 0;       ///< rate of each link, in each direction
  std::size_t record_bytes = 0;
};

/// Shares that make the exchange as short as possible, by the measured rates of ranks and links; pure. Without any
/// measured rate of forming, shares are equal. Throws: partition::PlanError if a time does not fit a double.
Shares shares_by_rates(std::span<const Work> work, const MeasuredLinks& links);

/// What is known of all ranks, on all ranks. `input_records`: of this rank. Collective. Throws: PeerFailed.
MeasuredLinks gather_links(double bytes_per_second, std::uint64_t input_records, std::size_t record_bytes,
                           comm::Communicator& ranks);

/// The time that a rank has spent on forming runs.
struct Spent {
  double seconds = 0;            ///< wall-clock time
  double processor_seconds = 0;  ///< processor time of all threads
};

/// The seconds from which the rank's rate follows: those on the clock. If a quota of processor time has stopped the
/// rank, they are the processor time that the work used, at the rate of the quota. The clock would depend on how many
/// periods happen to begin within a short time.
double seconds_of_work(const Spent& spent, const std::optional<ProcessorQuota>& quota, std::size_t threads);

/// Whether the work was long enough for a rate: shorter times are those of starting threads and opening files.
bool is_measured(const Work& work);

/// The work of all ranks, in rank order. Collective. Throws: PeerFailed; std::runtime_error for impossible seconds.
std::vector<Work> gather_work(const Work& mine, comm::Communicator& ranks);

}  // namespace hetsort::sort
