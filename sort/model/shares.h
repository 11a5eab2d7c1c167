// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Phase plan_shares: how many records each rank takes and ends with.
#pragma once

#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "partition/plan.h"

namespace hetsort::sort {

/// The maximum number of parts of all ranks together. The tables of runs and cuts grow with its square.
inline constexpr std::uint64_t kMaxParts = 64;

/// Records of each rank, in rank order.
struct Shares {
  std::vector<std::uint64_t> records;
  std::vector<std::uint64_t> input{};  ///< records that each rank reads of a shared input; empty = as `records`
  std::string strategy = "equal";
  double predicted_seconds = 0;  ///< time of the whole job or, if not known, of the slowest rank; 0 = not known
  std::optional<partition::RunPrediction> run{};  ///< the phases of the whole job, if they are known
  std::vector<int> order{};                       ///< order in which a root serves the ranks; empty = rank order
  /// The number of parts of each rank's input and output, of equal size, which it sorts and merges one after the other:
  /// emulated processes.
  std::vector<std::uint64_t> parts{};  ///< empty = one part each
  // What the user may see of the planning; set on the rank that planned.
  std::string reason{};    ///< why auto took this strategy; empty = the user named it
  partition::Plan plan{};  ///< plan of the nodes, which are the ranks in the order in which a root would serve them

  const std::vector<std::uint64_t>& input_records() const { return input.empty() ? records : input; }
  std::uint64_t parts_of(std::size_t rank) const { return parts.empty() ? 1 : parts[rank]; }
  /// Records of the ranks before `rank`.
  std::uint64_t first_record(std::size_t rank) const {
    return std::accumulate(records.begin(), records.begin() + static_cast<std::ptrdiff_t>(rank), std::uint64_t{0});
  }
  std::uint64_t total_records() const { return first_record(records.size()); }
};

/// What is to be shared among the ranks of a job.
struct RecordsToShare {
  std::uint64_t records = 0;
  /// The records that each rank reads, if the plan does not decide it: ranks have files of their own, or rank 0 sends.
  /// Else empty.
  std::vector<std::uint64_t> input{};
  /// Part of each rank's input, 0 to 1, that is in the page cache and is read from there; empty = nothing is.
  std::vector<double> input_cached{};
  /// Ranks that write an output past the page cache even if it is not synced, because the cache has no room for an
  /// equal share of it; empty = none.
  std::vector<bool> writes_directly{};
};

using PlanShares = std::function<Shares(const RecordsToShare& what)>;

/// Makes the plan on rank 0 and returns it on all ranks. Plans that each rank makes for itself could differ, by its
/// options or by how its processor rounds a logarithm, and then records would be lost. Collective. Throws: PeerFailed;
/// std::runtime_error for a plan that does not fit the records and ranks; on rank 0 what `plan` throws.
Shares plan_on_root(const PlanShares& plan, const RecordsToShare& what, comm::Communicator& ranks);

/// The work of a rank while it formed its runs. It shows the rank's speed.
struct Work {
  std::uint64_t records = 0;
  double seconds = 0;  ///< waiting for a stream excluded
};

/// Divides `records` into `count` parts that differ by at most one record. The larger parts come first.
inline std::vector<std::uint64_t> equal_parts(std::uint64_t records, std::uint64_t count) {
  std::vector<std::uint64_t> parts;
  for (std::uint64_t part = 0; part < count; ++part)
    parts.push_back(records / count + (part < records % count ? 1 : 0));
  return parts;
}

/// Equal shares for all ranks, as by equal_parts().
inline Shares equal_shares(std::uint64_t records, std::size_t ranks) {
  return {.records = equal_parts(records, ranks)};
}

}  // namespace hetsort::sort
