// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Phase plan_shares: how many records each rank takes and ends with.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace hetsort::sort {

/// Records of each rank, in rank order.
struct Shares {
  std::vector<std::uint64_t> records;
  std::string strategy = "equal";
  double predicted_seconds = 0;  ///< of the slowest rank; 0 where costs are not in seconds
  std::vector<int> order{};      ///< in which a root serves the ranks; empty = rank order
};

/// Shares of that many records for all ranks of the job.
using PlanShares = std::function<Shares(std::uint64_t records)>;

/// What a rank did while it formed its runs: how fast it is.
struct Work {
  std::uint64_t records = 0;
  double seconds = 0;  ///< waiting for others excluded
};

/// The same for every rank, the first ones a record more where it does not come out even.
inline Shares equal_shares(std::uint64_t records, std::size_t ranks) {
  Shares shares;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    shares.records.push_back(records / ranks + (rank < records % ranks ? 1 : 0));
  return shares;
}

}  // namespace hetsort::sort
