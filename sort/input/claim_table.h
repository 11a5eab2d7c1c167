// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Decides which rank reads which records of a shared input when the speeds of the ranks are unknown. Rank 0 has the
// table.
//
// In: a rank that asks, and the time. Out: the records that it reads next.
// Idea: at first each rank owns a slice, in rank order: an equal one, or what a plan gives it. It claims records from
// the front of its slice again and again, so that its claims form one run. A rank that has claimed its whole slice
// steals from the slice with the longest remaining time: the tail, cut in proportion to both rates so far, becomes the
// thief's own slice, from which others may steal in turn. So the records follow the true rates, and each rank ends with
// few slices of the input. Cost: O(ranks) a claim; a slice of n records is claimed in about 16 ln(n / smallest) claims.
// Work stealing: Blumofe and Leiserson, Scheduling multithreaded computations by work stealing, JACM 1999.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hetsort::sort {

/// The records that a rank gets for one request: [first, first + records) of the whole input.
struct Claim {
  std::uint64_t first = 0;
  std::uint64_t records = 0;  ///< 0 = nothing is left for this rank
  /// The end of the slice from whose front this claim is taken. It moves towards the front when others steal.
  std::uint64_t slice_end = 0;
  std::uint64_t fresh = 0;  ///< 1 = the slice is a new one; 0 = the claim continues the last one
};

struct ClaimRequest {
  std::uint64_t wanted = 0;  ///< minimum records, if the slice has so many; 0 = the table decides
  std::uint64_t done = 0;    ///< records of all its claims that the rank has processed by now
  double late_seconds = 0;   ///< time that the rank waited idle for its last answer
};

struct ClaimRules {
  std::uint64_t smallest_records = 1;  ///< size of a claim at least, unless fewer are left; fast ranks get more; 0 = 1
  std::uint64_t most_slices = 1;       ///< number of a rank's slices at most, the first one included
};

class ClaimTable {
 public:
  /// slices[r] is the number of records that rank r owns at first. capacities[r] is the number of records that all
  /// slices of rank r may have together. A slice counts with the size that it had when the rank got it. Requires: a
  /// rank's capacity holds its first slice.
  ClaimTable(std::span<const std::uint64_t> slices, std::span<const std::uint64_t> capacities, const ClaimRules& rules);

  /// Returns the next claim of a rank. `seconds`: since the table was made.
  Claim next(std::size_t rank, const ClaimRequest& request, double seconds);

 private:
  struct Rank {
    std::uint64_t first = 0;  // first record of its slice that is not claimed yet
    std::uint64_t end = 0;
    std::uint64_t slices = 1;
    std::uint64_t room = 0;  // capacity that its slices do not use
    std::uint64_t claimed = 0;
    std::uint64_t done = 0;
    double done_seconds = 0;
    double late_seconds = 0;  // sum of the delays of its answers, which its claims must bridge

    std::uint64_t left() const { return end - first; }
  };

  double rate(const Rank& rank, double seconds) const;
  std::uint64_t smallest_claim(const Rank& rank, double seconds) const;
  bool steal(Rank& thief, double seconds);

  std::vector<Rank> of_rank_;
  ClaimRules rules_;
};

}  // namespace hetsort::sort
