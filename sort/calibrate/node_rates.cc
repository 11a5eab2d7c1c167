// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/calibrate/node_rates.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "sort/plan/plan_sort.h"

namespace hetsort::sort {

namespace {

// In a sort together, the work after forming runs takes the processors about this many times as long as forming them.
constexpr double kTimesOfForming = 3;
// Larger differences between nodes are differences of the machines, however much their sorts vary.
constexpr double kMaxHalfWidth = 0.1;

double seconds_of_all(const TimedSort& sort, RateBy by) {
  const double forming = std::min(sort.forming_seconds, sort.whole.seconds);
  const double others = by == RateBy::kAllPhases ? sort.whole.seconds - forming : 0;
  return forming + std::max(kTimesOfForming * forming, others);
}

/// Like std::hypot(), but with the same result on all processors: all ranks must compute the same rates.
double hypotenuse(double one, double other) { return std::sqrt(one * one + other * other); }

MeasuredPoint summarize_size(const SortsOfSize& size, RateBy by) {
  std::vector<Repetition> of_all;
  for (const TimedSort& sort : size.sorts) {
    const double seconds = seconds_of_all(sort, by);
    of_all.push_back({seconds, sort.whole.stolen_seconds / positive_seconds(sort.whole) * seconds});
  }
  return summarize(size.records, of_all);
}

/// Nodes that get the same rate.
struct Kind {
  std::vector<std::size_t> members;
  double sum = 0;
  double widest = 0;  // of the members' half-widths, in records a second

  double mean() const { return sum / static_cast<double>(members.size()); }
};

}  // namespace

NodeRate node_rate(std::span<const SortsOfSize> sizes, RateBy by) {
  double records = 0;
  double seconds = 0;
  double half_width = 0;  // of the seconds
  for (const SortsOfSize& size : sizes) {
    const MeasuredPoint point = summarize_size(size, by);
    const auto sorts = static_cast<double>(point.repetitions);
    records += sorts * static_cast<double>(std::max<std::uint64_t>(1, size.records));
    seconds += sorts * point.seconds;
    half_width = hypotenuse(half_width, sorts * point.seconds * point.spread);
  }
  const double at_least = std::max(1e-9, seconds);
  return {records / at_least, half_width / at_least};
}

std::vector<double> rates_beyond_chance(std::span<const NodeRate> nodes) {
  std::vector<std::size_t> order(nodes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
    return nodes[left].records_per_second < nodes[right].records_per_second;
  });
  std::vector<Kind> kinds;
  for (const std::size_t node : order) {
    const double rate = nodes[node].records_per_second;
    const double width = std::min(kMaxHalfWidth, nodes[node].half_width) * rate;
    if (kinds.empty() || rate - kinds.back().mean() > hypotenuse(width, kinds.back().widest)) kinds.emplace_back();
    Kind& kind = kinds.back();
    kind.members.push_back(node);
    kind.sum += rate;
    kind.widest = std::max(kind.widest, width);
  }
  std::vector<double> rates(nodes.size());
  for (const Kind& kind : kinds)
    for (const std::size_t node : kind.members) rates[node] = kind.mean();
  return rates;
}

std::vector<NodeRate> gather_rates(const NodeRate& mine, comm::Communicator& ranks) {
  std::vector<NodeRate> all;
  for (const std::vector<std::uint64_t>& rank : ranks.all_gather(
           {std::bit_cast<std::uint64_t>(mine.records_per_second), std::bit_cast<std::uint64_t>(mine.half_width)}))
    all.push_back({std::bit_cast<double>(rank[0]), std::bit_cast<double>(rank[1])});
  return all;
}

}  // namespace hetsort::sort
