// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/rounding.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <tuple>

#include "partition/cost/doubles.h"

namespace hetsort::partition {
namespace {

/// One more record for one node, in the order in which records are given.
struct Increment {
  double cost = 0;            // cost of the record: f(n + 1)
  double cost_after = 0;      // f(n + 2) where f(n + 1) = 0, else 0
  std::uint32_t granted = 0;  // records that the node got here before it
  std::uint32_t node = 0;

  bool operator<(const Increment& other) const {
    if (cost != other.cost) return cost < other.cost;
    return std::tie(granted, cost_after, node) < std::tie(other.granted, other.cost_after, other.node);
  }
};

Increment increment(const CostedNode& node, std::size_t index, std::int64_t share, std::uint32_t granted) {
  const double cost = node.value(static_cast<double>(share + 1));
  const double after = cost == 0 && share < kNoCap - 1 ? node.value(static_cast<double>(share + 2)) : 0.0;
  return {cost, after, granted, static_cast<std::uint32_t>(index)};
}

/// The number of records up to which they are given or taken one by one.
std::int64_t few_records(std::span<const CostedNode> nodes) { return 4 * static_cast<std::int64_t>(nodes.size()); }

void hand_out_one_by_one(std::span<const CostedNode> nodes, std::span<std::int64_t> shares, std::int64_t left) {
  const auto later = [](const Increment& a, const Increment& b) { return b < a; };
  std::priority_queue<Increment, std::vector<Increment>, decltype(later)> queue(later);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (shares[i] < nodes[i].high) queue.push(increment(nodes[i], i, shares[i], 0));
  for (; left > 0 && !queue.empty(); --left) {
    const Increment first = queue.top();
    queue.pop();
    const std::size_t i = first.node;
    ++shares[i];
    if (shares[i] < nodes[i].high) queue.push(increment(nodes[i], i, shares[i], first.granted + 1));
  }
}

__extension__ using Wide = __int128;  // sums of 63-bit numbers

/// The records beyond its share that a node finishes by the threshold; for an infinite one, all that it can hold.
std::int64_t room_by(const CostedNode& node, std::int64_t share, double threshold) {
  const std::int64_t limit = threshold < kInfinity ? node.whole(threshold) : node.high;
  return std::max<std::int64_t>(0, limit - share);
}

/// The largest T by which the nodes finish at most `left` records beyond their shares, and the next double above it.
struct Level {
  double at_most = 0;
  double above = 0;  // equal to at_most if nodes finish too many records even by T = 0
};

Level find_level(std::span<const CostedNode> nodes, std::span<const std::int64_t> shares, std::int64_t left) {
  const auto fits = [&](double threshold) {
    Wide sum = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) sum += room_by(nodes[i], shares[i], threshold);
    return sum <= left;
  };
  if (!fits(0)) return {0, 0};
  double low = 0;
  double high = kInfinity;
  for (double middle = middle_of(low, high); middle > low; middle = middle_of(low, high))
    (fits(middle) ? low : high) = middle;
  return {low, high};
}

/// Gives `left` records, no more than `room` of a node, so that no node gets two more than another that has room.
void hand_out_evenly(std::span<std::int64_t> shares, std::span<std::int64_t> room, std::span<std::int64_t> granted,
                     std::int64_t left) {
  const auto wanted = [&](std::size_t i, std::int64_t level) {
    return std::clamp<std::int64_t>(level - granted[i], 0, room[i]);
  };
  std::int64_t low = 0;  // number that every node can get, found by bisection
  std::int64_t high = std::numeric_limits<std::int64_t>::max();
  while (high - low > 1) {
    const std::int64_t level = low + (high - low) / 2;
    Wide sum = 0;
    for (std::size_t i = 0; i < room.size(); ++i) sum += wanted(i, level);
    (sum <= left ? low : high) = level;
  }
  const auto give = [&](std::size_t i, std::int64_t count) {
    shares[i] += count;
    room[i] -= count;
    granted[i] += count;
    left -= count;
  };
  for (std::size_t i = 0; i < room.size(); ++i) give(i, wanted(i, low));
  for (std::size_t i = 0; i < room.size() && left > 0; ++i) give(i, std::min(left, wanted(i, high)));
}

/// Hands out more than a few records: first all that cost at most T, then evenly those of the next higher cost.
void hand_out_many(std::span<const CostedNode> nodes, std::span<std::int64_t> shares, std::int64_t left) {
  const Level level = find_level(nodes, shares, left);
  std::vector<std::int64_t> granted(nodes.size(), 0);
  std::vector<std::int64_t> room(nodes.size(), 0);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (level.at_most < level.above) granted[i] = room_by(nodes[i], shares[i], level.at_most);
    shares[i] += granted[i];
    left -= granted[i];
    room[i] = room_by(nodes[i], shares[i], level.above);
  }
  hand_out_evenly(shares, room, granted, left);
}

/// Keeps the first `count` of `increments`, in any order.
void keep_first(std::vector<Increment>& increments, std::size_t count) {
  if (increments.size() <= count) return;
  std::nth_element(increments.begin(), increments.begin() + static_cast<std::ptrdiff_t>(count), increments.end());
  increments.resize(count);
}

/// Adds `left` to the shares in proportion to them, or takes it away. Returns the rest, with the same sign.
std::int64_t spread(std::span<const CostedNode> nodes, std::span<std::int64_t> shares, std::int64_t left) {
  const bool adding = left > 0;
  const auto room = [&](std::size_t i) { return adding ? nodes[i].high - shares[i] : shares[i] - nodes[i].low; };
  double total = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (room(i) > 0) total += static_cast<double>(shares[i]) + 1;
  const auto all = static_cast<double>(adding ? left : -left);
  std::int64_t remaining = adding ? left : -left;
  for (std::size_t i = 0; i < nodes.size() && remaining > 0; ++i) {
    if (room(i) <= 0) continue;
    const double part = all * ((static_cast<double>(shares[i]) + 1) / total);
    const std::int64_t moved = whole_part(part, std::min(room(i), remaining));
    shares[i] += adding ? moved : -moved;
    remaining -= moved;
  }
  return adding ? remaining : -remaining;
}

/// Takes `excess` records back, each from the node that finishes last. If they are many, all but the last few are taken
/// from the nodes in index order.
void take_back(std::span<const CostedNode> nodes, std::span<std::int64_t> shares, std::int64_t excess) {
  for (std::size_t i = 0; i < nodes.size() && excess > few_records(nodes); ++i) {
    const std::int64_t taken = std::min(excess - few_records(nodes), shares[i] - nodes[i].low);
    shares[i] -= taken;
    excess -= taken;
  }
  using Entry = std::tuple<double, std::int64_t, std::size_t>;  // cost, -taken, node: the greatest gives up a record
  std::priority_queue<Entry> queue;
  const auto push = [&](std::size_t i, std::int64_t taken) {
    if (shares[i] > nodes[i].low) queue.emplace(nodes[i].value(static_cast<double>(shares[i])), -taken, i);
  };
  for (std::size_t i = 0; i < nodes.size(); ++i) push(i, 0);
  for (; excess > 0 && !queue.empty(); --excess) {
    const auto [cost, taken, node] = queue.top();
    queue.pop();
    --shares[node];
    push(node, 1 - taken);
  }
}

/// Cuts real shares to the limits; what a node cannot take goes to the others in proportion.
void fit_to_limits(std::span<const CostedNode> nodes, std::vector<double>& shares, double records) {
  constexpr int kMaxRounds = 64;  // each fixes at least one node; the rest is handed out whole
  for (int round = 0; round < kMaxRounds; ++round) {
    double fixed = 0;
    double loose = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto low = static_cast<double>(nodes[i].low);
      const auto high = static_cast<double>(nodes[i].high);
      shares[i] = std::clamp(shares[i], low, high);
      const bool at_limit = shares[i] >= high || (shares[i] <= low && low > 0);
      (at_limit ? fixed : loose) += shares[i];
    }
    const double off = records - fixed - loose;
    if (loose <= 0 || std::abs(off) <= 1e-9 * records) return;
    const double factor = std::max(0.0, (records - fixed) / loose);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto low = static_cast<double>(nodes[i].low);
      if (shares[i] < static_cast<double>(nodes[i].high) && !(shares[i] <= low && low > 0)) shares[i] *= factor;
    }
  }
}

}  // namespace

void hand_out(std::span<const CostedNode> nodes, std::span<std::int64_t> shares, std::int64_t left) {
  if (left <= 0) return;
  if (left > few_records(nodes)) return hand_out_many(nodes, shares, left);
  std::vector<Increment> increments;
  increments.reserve(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (shares[i] < nodes[i].high) increments.push_back(increment(nodes[i], i, shares[i], 0));
  const auto count = static_cast<std::size_t>(left);
  if (count > increments.size()) return hand_out_one_by_one(nodes, shares, left);

  keep_first(increments, count);
  const Increment last = *std::max_element(increments.begin(), increments.end());
  const std::size_t firsts = increments.size();
  for (std::size_t i = 0; i < firsts; ++i) {
    const std::size_t node = increments[i].node;
    for (std::uint32_t more = 1; shares[node] + more < nodes[node].high; ++more) {
      const Increment next = increment(nodes[node], node, shares[node] + more, more);
      if (last < next) break;
      increments.push_back(next);
      if (increments.size() > 4 * count + 64) return hand_out_one_by_one(nodes, shares, left);
    }
  }
  keep_first(increments, count);
  for (const Increment& one : increments) ++shares[one.node];
}

std::vector<std::int64_t> round_shares(std::span<const CostedNode> nodes, std::vector<double> shares,
                                       std::int64_t records) {
  fit_to_limits(nodes, shares, static_cast<double>(records));
  std::vector<std::int64_t> whole(nodes.size());
  std::int64_t left = records;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const bool full = shares[i] >= static_cast<double>(nodes[i].high);
    whole[i] = full ? nodes[i].high : std::max(nodes[i].low, whole_part(shares[i], nodes[i].high));
    left -= whole[i];
  }
  // Beyond 2^53 records the real shares are not exact: bring the sum near in proportion, then record by record.
  const auto few = static_cast<std::int64_t>(2 * nodes.size());
  constexpr int kMaxPasses = 64;
  for (int pass = 0; pass < kMaxPasses && (left > few || left < -few); ++pass) left = spread(nodes, whole, left);
  if (left < 0) take_back(nodes, whole, -left);
  hand_out(nodes, whole, left);
  return whole;
}

}  // namespace hetsort::partition
