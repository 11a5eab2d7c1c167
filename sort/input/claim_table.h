// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Decides which rank reads which records of a shared input when the speeds of the ranks are unknown. Rank 0 has the
// table.
//
// In: a rank that asks, and the time. Out: the records that it reads next.
// Idea: at first each rank owns an equal slice, in rank order. It claims piece after piece from the front of its slice,
// so that the pieces form one run. A rank that has claimed its whole slice steals from the slice with the longest
// remaining time: the tail, cut in proportion to both rates so far, becomes the thief's own slice, from which others
// may steal in turn. So the records follow the true rates, and each rank ends with few consecutive ranges of the input.
// Cost: O(ranks) a claim; a slice of n records is claimed in about 16 ln(n / smallest) pieces. Work stealing: Blumofe
// and Leiserson, Scheduling multithreaded computations by work stealing, JACM 1999.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hetsort::sort {

/// Records [first, first + records) of the whole input.
struct Claim {
  std::uint64_t first = 0;
  std::uint64_t records = 0;  ///< 0 = there is nothing left for this rank
  /// The end of the slice from whose front this claim is taken. It moves towards the front when others steal.
  std::uint64_t slice_end = 0;
  std::uint64_t fresh = 0;  ///< 1 = the slice is a new one, else the claim continues the last
};

struct ClaimRequest {
  std::uint64_t wanted = 0;  ///< minimum records, if the slice has them; 0 = the table decides
  std::uint64_t done = 0;    ///< records of all its claims that the rank has processed by now
  double late_seconds = 0;   ///< how long it waited idle for its last answer
};

struct ClaimRules {
  std::uint64_t smallest_records = 1;  ///< of a claim, unless fewer are left; fast ranks get more; 0 = 1
  std::uint64_t most_slices = 1;       ///< of a rank, the first one included
};

class ClaimTable {
 public:
  /// `capacities`: the maximum of records in all slices of a rank, each counted with its size when the rank got it.
  /// Requires: a rank's capacity holds its equal share.
  ClaimTable(std::uint64_t records, std::vector<std::uint64_t> capacities, const ClaimRules& rules);

  /// The next claim of a rank. `seconds`: since the table was made.
  Claim next(std::size_t rank, const ClaimRequest& request, double seconds);

 private:
  struct Rank {
    std::uint64_t first = 0;  // its slice, not claimed yet
    std::uint64_t end = 0;
    std::uint64_t slices = 1;
    std::uint64_t room = 0;  // capacity beyond its slices
    std::uint64_t claimed = 0;
    std::uint64_t done = 0;
    double done_seconds = 0;
    double late_seconds = 0;  // sum of its answers': each was late by so much with the pieces it had

    std::uint64_t left() const { return end - first; }
  };

  double rate(const Rank& rank, double seconds) const;
  std::uint64_t smallest_piece(const Rank& rank, double seconds) const;
  bool steal(Rank& thief, double seconds);

  std::vector<Rank> of_rank_;
  ClaimRules rules_;
};

}  // namespace hetsort::sort
