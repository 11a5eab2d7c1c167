// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/input/claim_table.h"

#include <algorithm>
#include <cassert>

#include "io/checked.h"

namespace hetsort::sort {

namespace {

// A slice is claimed in fractions of 1/kClaims. A rank that is this many times slower than the others still reads its
// first claim when they have finished their slices. Half of it would suffice, because ranks ask for the next claim
// while they work.
constexpr std::uint64_t kClaims = 16;

// The minimum duration of a claim, so that the answer to a request comes while the rank works on the claim before.
constexpr double kClaimSeconds = 0.01;

// If answers to a rank come late, because rank 0 waits for a processor, its claims get longer by the delay. A claim is
// at most 1/kLateParts of the rest of its slice, so that others can still steal from it.
constexpr std::uint64_t kLateParts = 4;

// A steal leaves the thief with one more run to merge. It is worth that if the victim would work for this fraction of
// the time so far.
constexpr double kWorthPart = 0.05;

constexpr double kShortestSeconds = 1e-9;

}  // namespace

ClaimTable::ClaimTable(std::span<const std::uint64_t> slices, std::span<const std::uint64_t> capacities,
                       const ClaimRules& rules)
    : rules_(rules) {
  rules_.smallest_records = std::max<std::uint64_t>(1, rules_.smallest_records);
  std::uint64_t first = 0;
  for (std::size_t rank = 0; rank < slices.size(); ++rank) {
    const std::uint64_t slice = slices[rank];
    assert(slice <= capacities[rank]);
    of_rank_.push_back(
        {.first = first, .end = first + slice, .room = capacities[rank] - std::min(capacities[rank], slice)});
    first += slice;
  }
}

Claim ClaimTable::next(std::size_t rank, const ClaimRequest& request, double seconds) {
  Rank& mine = of_rank_[rank];
  bool fresh = mine.claimed == 0 && mine.left() > 0;
  mine.done = std::min(request.done, mine.claimed);
  mine.done_seconds = seconds;
  mine.late_seconds += std::max(0.0, request.late_seconds);
  if (mine.left() == 0) {
    if (!steal(mine, seconds)) return {};
    fresh = true;
  }
  const std::uint64_t smallest = smallest_claim(mine, seconds);
  std::uint64_t records = std::max({request.wanted, smallest, mine.left() / kClaims});
  if (records + smallest > mine.left()) records = mine.left();
  const Claim claim{mine.first, records, mine.end, fresh ? std::uint64_t{1} : 0};
  mine.first += records;
  mine.claimed += records;
  return claim;
}

/// The rate of a rank in records a second. For a rank that has not asked for long, the highest rate that is possible.
double ClaimTable::rate(const Rank& rank, double seconds) const {
  const auto of = [](std::uint64_t records, double time) {
    return static_cast<double>(records) / std::max(time, kShortestSeconds);
  };
  const double most = of(std::max(rank.claimed, rules_.smallest_records), seconds);
  return rank.done == 0 ? most : std::min(most, of(rank.done, rank.done_seconds));
}

std::uint64_t ClaimTable::smallest_claim(const Rank& rank, double seconds) const {
  // The rate of the first moments is inaccurate: no claim is larger than all claims before it.
  const auto lasting = [&](double claim_seconds) {
    return io::saturated(std::min(static_cast<double>(rank.done), rate(rank, seconds) * claim_seconds));
  };
  const std::uint64_t late = std::min(lasting(kClaimSeconds + rank.late_seconds), rank.left() / kLateParts);
  return std::max({rules_.smallest_records, lasting(kClaimSeconds), late});
}

/// Cuts the tail off another rank's slice and gives it to the thief. Returns false if no tail is worth stealing.
bool ClaimTable::steal(Rank& thief, double seconds) {
  if (thief.slices >= rules_.most_slices) return false;
  const double own_rate = rate(thief, seconds);
  Rank* victim = nullptr;
  double most_seconds = kWorthPart * seconds;
  std::uint64_t stolen = 0;
  for (Rank& other : of_rank_) {
    const double other_rate = rate(other, seconds);
    const auto left = static_cast<double>(other.left());
    const std::uint64_t fair = io::saturated(left * (own_rate / (own_rate + other_rate)));
    const std::uint64_t tail = std::min({fair, thief.room, other.left()});
    if (tail < rules_.smallest_records || left / other_rate <= most_seconds) continue;
    victim = &other;
    most_seconds = left / other_rate;
    stolen = tail;
  }
  if (victim == nullptr) return false;
  victim->end -= stolen;
  thief.first = victim->end;
  thief.end = victim->end + stolen;
  thief.room -= stolen;
  ++thief.slices;
  return true;
}

}  // namespace hetsort::sort
