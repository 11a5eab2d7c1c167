// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Who takes which records of an input that all ranks see, when nothing is known of the ranks: what rank 0 keeps.
//
// In: a rank that asks, and when. Out: the records it takes next.
// Idea: at first each rank owns an equal slice, in rank order. It claims piece after piece from the front of its slice,
// so that they make one run. Who has claimed all of its slice steals: the tail of the slice that has most time left,
// cut in proportion of both rates so far, becomes the thief's own slice, from which others may steal in turn. So
// records follow the true rates, and each rank ends with few consecutive stretches of the input. Cost: O(ranks) a
// claim; a slice of n records is claimed in about 16 ln(n / smallest) pieces. Work stealing: Blumofe and Leiserson,
// Scheduling multithreaded computations by work stealing, JACM 1999.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hetsort::sort {

/// Records [first, first + records) of the whole input.
struct Claim {
  std::uint64_t first = 0;
  std::uint64_t records = 0;  ///< 0 = there is nothing left for this rank
  /// Where the slice ends of which this is the front: the end of what may be claimed behind it. Others bring it nearer.
  std::uint64_t slice_end = 0;
  std::uint64_t fresh = 0;  ///< 1 = the slice is a new one, else the claim continues the last
};

struct ClaimRequest {
  std::uint64_t wanted = 0;  ///< records at least, if the slice has them; 0 = as the table sees fit
  std::uint64_t done = 0;    ///< of all the rank's claims, by now; it may ask before it has done the last
  double late_seconds = 0;   ///< how long it waited for its last answer, with nothing to do
};

struct ClaimRules {
  std::uint64_t smallest_records = 1;  ///< a claim, unless no more is left; more where they take a rank no time; 0 = 1
  std::uint64_t most_slices = 1;       ///< of a rank, its first one included
};

class ClaimTable {
 public:
  /// `capacities`: how many records a rank's slices may have together, as large as they were when it got them.
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
