// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Shares by the rates at which the ranks formed their runs, and by those of links and disks if they were measured, for
// jobs without knowledge of the machines.
//
// In: on each rank, the records that it formed into runs and the seconds. Out: on all ranks, the same shares.
// Idea: all ranks begin to merge at the same time, when the last rank has formed its runs. Merging is linear in the
// records: each record is compared along one path of a tree, written once, and sent at most once. So with shares in
// proportion to the rates all ranks end at the same time. The rate is that of another phase, but that phase moves the
// same bytes through the same processors, memory and disks. If links were measured, the model of a whole run
// (partition/run) plans the exchange. Merging and messages then cost a rank what they cost the median rank, in
// proportion to the time in which it formed its runs.
// Cost: O(ranks) numbers, in the reduction in which ranks also announce their runs (sort/exchange/plan_exchange.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "partition/run/explain_run.h"
#include "sort/machine/processor_quota.h"
#include "sort/model/shares.h"

namespace hetsort::sort {

/// Shares of `records` in proportion to the rates; pure. A rank that worked too little to be measured gets the mean of
/// the other rates, or its own lower bound if that is more. Without any measured rank shares are equal. Rates are
/// limited to a factor of 16 above and below their median.
Shares shares_by_rates(std::uint64_t records, std::span<const Work> work);

/// What was measured of a rank beside its work; 0 = not measured.
struct RankRates {
  double form_seconds = 0;     ///< processor seconds in which a thread forms a record into a run, rehearsed
  double merge_seconds = 0;    ///< likewise, to merge and write it
  double message_seconds = 0;  ///< processor seconds in which the host sends or receives a byte over its link
  double processors = 1;       ///< number of threads that run at a time: a fraction under a quota
  double link_in = 0;          ///< bytes per second of the host's link in an exchange; likewise the next two
  double link_out = 0;
  double disk_write = 0;  ///< rate of the disk that the output is written to, if the run waits for it
};

/// Rates of links and of disks that differ by less count as alike: they are measured for a moment while others use
/// them.
inline constexpr double kAlikeRates = 0.4;

/// Gives values that differ by no more than measurements do their mean: then chance does not choose among their ranks.
/// `alike`: the ratio to the greatest from which on a value counts as different.
void level(std::vector<double>& values, double alike);

/// What is known of all ranks of a job.
struct MeasuredJob {
  std::vector<std::string> names{};    ///< host name of each rank
  std::vector<std::size_t> host{};     ///< host of each rank; ranks with the same number share link and disk
  std::vector<std::uint64_t> input{};  ///< records that each rank has
  partition::InputChoice input_choice = partition::InputChoice::kPlanned;
  std::vector<RankRates> rates{};  ///< empty = nothing was measured
  std::size_t record_bytes = 0;
};

/// The output shares of a job, and what is predicted for them.
struct MeasuredShares {
  Shares shares;
  std::vector<partition::PhaseTime> exchange{};  ///< times of the ranks; empty if no rank was measured
  std::string explanation{};                     ///< one sentence; empty if no rank was measured
};

/// Shares that make the exchange as short as possible, by the measured rates of processors, links and disks; pure.
/// Without any measured rate of forming, shares are equal. Throws: partition::PlanError if a time does not fit a
/// double.
MeasuredShares shares_by_rates(std::span<const Work> work, const MeasuredJob& job);

/// The capacity of a rank that writes its runs to its disk.
inline constexpr std::uint64_t kOnDisk = std::numeric_limits<std::uint64_t>::max();

/// The records of a shared input that each rank owns at first, and how many it may have in the end.
struct ClaimPlan {
  std::vector<std::uint64_t> slices;
  std::vector<std::uint64_t> most;
};

/// The slices with which the whole run is as short as possible. They are equal, so that ranks find out by themselves
/// who is fast, unless rates of links say that some rank should read much less than its processor could. Such a rank
/// gets no more than its slice. `capacities`: the maximum number of records of each rank, or kOnDisk. Such a rank gets
/// no more than an equal slice by plan, because its disk works in phases that are not planned here. Requires:
/// capacities hold equal shares. Pure.
ClaimPlan plan_claims(const MeasuredJob& job, std::uint64_t records, std::span<const std::uint64_t> capacities);

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

/// Throws: std::runtime_error if a rank reports impossible seconds.
void check_work(const std::vector<Work>& all);
/// The work of all ranks, in rank order. Collective. Throws: PeerFailed; as check_work().
std::vector<Work> gather_work(const Work& mine, comm::Communicator& ranks);

}  // namespace hetsort::sort
