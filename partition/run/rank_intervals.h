// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The numbers of records with which ranks and hosts keep within a time. Internal to the library.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "partition/run/level_search.h"
#include "partition/run/phase_costs.h"

namespace hetsort::partition {

/// Removes from the interval the numbers of records that take more than `seconds`.
inline void narrow(Interval& interval, const Line& line, double seconds) {
  constexpr std::int64_t kNoEnd = std::numeric_limits<std::int64_t>::max();
  if (line.offset > seconds && line.slope >= 0)
    interval.high = -1;
  else if (line.slope > 0)
    interval.high = std::min(interval.high, whole_part((seconds - line.offset) / line.slope, kNoEnd));
  else if (line.offset > seconds)
    interval.low = std::max(interval.low, whole_part(std::ceil((line.offset - seconds) / -line.slope), kNoEnd));
}

/// The maximum number of records that a rank may have of `records`.
inline std::int64_t cap_of(const RankResources& rank, std::int64_t records) {
  return std::min(records, rank.max_records.value_or(records));
}

/// Sums the intervals of a host's ranks. The upper bound stays within `records`.
template <typename RankInterval>
Interval sum_of_ranks(std::span<const std::size_t> ranks, std::int64_t records, const RankInterval& interval) {
  if (ranks.size() == 1) return interval(ranks.front());
  Interval sum;
  for (const std::size_t rank : ranks) {
    const Interval one = interval(rank);
    if (one.low > one.high) return Interval{1, 0};
    sum.low = std::min(records, sum.low + one.low);
    sum.high += std::min(one.high, records - sum.high);
  }
  return sum;
}

/// Divides the records of each host among its ranks. `ranks`: the number of all ranks.
template <typename RankInterval>
std::vector<std::int64_t> divide_among_ranks(const HostRanks& hosts, std::size_t ranks, const LevelShares& of_hosts,
                                             const RankInterval& interval) {
  std::vector<std::int64_t> shares(ranks);
  for (std::size_t host = 0; host < hosts.hosts(); ++host) {
    const std::span<const std::size_t> own = hosts.ranks(host);
    if (own.size() == 1) {
      shares[own.front()] = of_hosts.records[host];
      continue;
    }
    const auto of_rank = [&](std::size_t place, double seconds) { return interval(own[place], seconds); };
    const LevelShares divided = share_by_level(own.size(), of_hosts.records[host], of_hosts.seconds, of_rank);
    for (std::size_t place = 0; place < own.size(); ++place) shares[own[place]] = divided.records[place];
  }
  return shares;
}

}  // namespace hetsort::partition
