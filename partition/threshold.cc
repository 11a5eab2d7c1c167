// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/threshold.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/tools/roots.hpp>
#include <cmath>
#include <limits>

#include "partition/cost/doubles.h"
#include "partition/error.h"
#include "partition/rounding.h"

namespace hetsort::partition {
namespace {

/// Brackets the smallest T at which the nodes hold N records, as real-valued functions: held(low) < N <= held(high),
/// except that low = high = 0 is possible. So no shares finish by low.
class ThresholdSearch {
 public:
  ThresholdSearch(std::span<const CostedNode> nodes, std::int64_t records)
      : nodes_(nodes), records_(static_cast<double>(records)) {
    if (held(0) >= records_) {
      high_ = 0;
      return;
    }
    high_ = 0;
    for (const CostedNode& node : nodes_)
      high_ = std::max(high_, node.value(static_cast<double>(std::min(node.high, records))));
    high_ = std::min(high_, std::numeric_limits<double>::max());
    if (!newton()) close_in();
  }

  double low() const { return low_; }
  double high() const { return high_; }

  /// Narrows the bracket until no double lies between its ends.
  void close_completely() {
    close_in();
    bisect(1);
  }

 private:
  struct Reading {
    double held = 0;
    double slope = 0;
    bool smooth = true;
  };

  double held(double threshold) const {
    double sum = 0;
    for (const CostedNode& node : nodes_)
      sum += std::clamp(node.inverse(threshold), static_cast<double>(node.low), static_cast<double>(node.high));
    return sum;
  }

  Reading read(double threshold) const {
    Reading reading;
    for (const CostedNode& node : nodes_) {
      const double records = node.inverse(threshold);
      if (records <= static_cast<double>(node.low) || records >= static_cast<double>(node.high)) {
        reading.held += static_cast<double>(records <= static_cast<double>(node.low) ? node.low : node.high);
        continue;
      }
      reading.held += records;
      const std::optional<double> slope = node.derivative(records);
      if (slope && *slope > 0) reading.slope += 1 / *slope;
      reading.smooth = reading.smooth && slope.has_value();
    }
    return reading;
  }

  /// The harmonic mean of the nodes' costs for equal shares: for one shape and relative speeds close to T.
  double first_guess() const {
    double inverse_sum = 0;
    for (const CostedNode& node : nodes_) {
      const double cost = node.value(std::max(1.0, records_ / static_cast<double>(nodes_.size())));
      if (cost > 0) inverse_sum += 1 / cost;
    }
    const double guess = static_cast<double>(nodes_.size()) / inverse_sum;
    return guess > low_ && guess < high_ ? guess : high_ / 2;
  }

  /// Newton's method inside the bracket. True when it converged; false when the functions are not smooth enough.
  bool newton() {
    constexpr int kMaxPasses = 24;
    constexpr double kEnough = 4e-15;  // relative to N: the sum's own rounding errors
    double threshold = first_guess();
    for (int pass = 0; pass < kMaxPasses; ++pass) {
      const Reading reading = read(threshold);
      if (!reading.smooth) return false;
      const double missing = records_ - reading.held;
      (missing > 0 ? low_ : high_) = threshold;
      if (missing > 0 && missing <= kEnough * records_) return true;
      double next = threshold + missing / reading.slope;
      if (missing <= 0 && -missing <= kEnough * records_ && reading.slope > 0) next = threshold * (1 - kEnough);
      if (next == threshold) return true;
      // Outside the bracket (a kink lies between): take its geometric mean, since it may span many magnitudes.
      if (!(next > low_ && next < high_)) next = low_ > 0 ? std::sqrt(low_) * std::sqrt(high_) : high_ / 64;
      if (!(next > low_ && next < high_)) return true;
      threshold = next;
    }
    return false;
  }

  /// Halves the bracket until its ends are within the factor `ratio`, or no double lies between them.
  void bisect(double ratio) {
    while (high_ > ratio * low_) {
      const double middle = middle_of(low_, high_);
      if (middle <= low_ || middle >= high_) return;
      (held(middle) < records_ ? low_ : high_) = middle;
    }
  }

  void close_in() {
    bisect(4);
    constexpr double kMaxMagnitude = 1e250;  // the products in TOMS 748 overflow beyond
    if (low_ < 1 / kMaxMagnitude || high_ > kMaxMagnitude) return bisect(1);
    const auto excess = [this](double threshold) {
      const double more = held(threshold) - records_;
      return more == 0 ? 0.5 : more;  // holding exactly N suffices: the crossing lies here or lower
    };
    const double low_excess = excess(low_);
    const double high_excess = excess(high_);
    if (!(low_excess < 0 && high_excess > 0)) return;
    constexpr int kBits = 50;
    std::uintmax_t evaluations = 80;
    const auto bracket = boost::math::tools::toms748_solve(
        excess, low_, high_, low_excess, high_excess, boost::math::tools::eps_tolerance<double>(kBits), evaluations);
    if (held(bracket.first) < records_) low_ = std::max(low_, bracket.first);
    if (held(bracket.second) >= records_) high_ = std::min(high_, bracket.second);
  }

  std::span<const CostedNode> nodes_;
  double records_;
  double low_ = 0;
  double high_ = 0;
};

double cost_of_minima(std::span<const CostedNode> nodes) {
  double cost = 0;
  for (const CostedNode& node : nodes)
    if (node.low > 0) cost = std::max(cost, node.value(static_cast<double>(node.low)));
  return cost;
}

/// Whole records every node can finish by `threshold`, no more than `left` together beyond the minima.
std::int64_t count_at(std::span<const CostedNode> nodes, double threshold, std::span<std::int64_t> shares,
                      std::int64_t left) {
  for (std::size_t i = 0; i < nodes.size() && left > 0; ++i) {
    const std::int64_t limit = nodes[i].whole(threshold);
    const std::int64_t more = std::min(left, std::max<std::int64_t>(0, limit - shares[i]));
    shares[i] += more;
    left -= more;
  }
  return left;
}

/// Beyond 2^53 neighbouring counts are one double, so that every node's count jumps a little at T. Each node gets the
/// part of `left` that its jump has in all jumps. Returns the rest: fewer records than nodes, or all of `left` when the
/// jumps together are smaller.
std::int64_t count_in_proportion(std::span<const CostedNode> nodes, double threshold, std::span<std::int64_t> shares,
                                 std::int64_t left) {
  std::vector<std::int64_t> jumps;
  __extension__ __int128 all = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    jumps.push_back(std::max<std::int64_t>(0, nodes[i].whole(threshold) - shares[i]));
    all += jumps.back();
  }
  if (all < left) return left;
  std::int64_t rest = left;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto part = static_cast<std::int64_t>(jumps[i] * static_cast<decltype(all)>(left) / all);
    shares[i] += part;
    rest -= part;
  }
  return rest;
}

/// Raises `shares`, the minima, to what every node finishes by T. Returns the number of records left to hand out.
std::int64_t fill_to_threshold(std::span<const CostedNode> nodes, ThresholdSearch& search,
                               std::vector<std::int64_t>& shares, std::int64_t to_share) {
  const auto few = static_cast<std::int64_t>(4 * nodes.size());
  if (search.high() == 0 && to_share <= few) return to_share;  // hand_out shares what costs nothing
  constexpr std::int64_t kExactIntegers = std::int64_t{1} << 53;
  const bool exact = to_share <= kExactIntegers;
  const std::vector<std::int64_t> minima = shares;
  if (exact) {
    const std::int64_t left = count_at(nodes, search.low(), shares, to_share);
    if (left <= few) return left;
    shares = minima;
  }
  search.close_completely();
  std::int64_t left = exact ? to_share : count_in_proportion(nodes, search.low(), shares, to_share);
  if (left < to_share) return left;
  left = count_at(nodes, search.low(), shares, to_share);
  if (!exact) return count_in_proportion(nodes, search.high(), shares, left);
  return left > few ? count_at(nodes, search.high(), shares, left) : left;
}

}  // namespace

ThresholdSolution solve_threshold(std::span<const CostedNode> nodes, std::int64_t records) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i].shape->non_decreasing())
      throw PlanError(
          fmt::format("the cost of node number {} falls somewhere; only the strategies dp and scatter-dp "
                      "plan with such curves",
                      i + 1));
  }
  ThresholdSolution solution;
  std::int64_t left = records;
  for (const CostedNode& node : nodes) {
    solution.shares.push_back(node.low);
    left -= node.low;
  }
  ThresholdSearch search(nodes, records);
  left = fill_to_threshold(nodes, search, solution.shares, left);
  solution.lower_bound = std::max(search.low(), cost_of_minima(nodes));
  hand_out(nodes, solution.shares, left);
  return solution;
}

double threshold_lower_bound(std::span<const CostedNode> nodes, std::int64_t records) {
  return std::max(ThresholdSearch(nodes, records).low(), cost_of_minima(nodes));
}

}  // namespace hetsort::partition
