// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// lambert: exact for f = n ln n and relative speeds (Cerin, Dubacq, Roch 2006, section 3.2, solved exactly).
//
// A node of speed k finishes x / W(x) records by T, with x = T k and Lambert's W. The sum over the nodes, cut to their
// caps, is concave and increasing in T: Newton's method needs two or three passes. The derivative of x / W(x) in T is
// k / (1 + W(x)). The start is the mean time of proportional shares, (N / K) (ln N + sum_i (k_i / K) ln(k_i / K)),
// which is right to second order in the differences of the ln k_i. O(p).
#include <algorithm>
#include <boost/math/special_functions/lambert_w.hpp>
#include <cmath>
#include <limits>

#include "partition/rounding.h"
#include "partition/strategies/model.h"

namespace hetsort::partition {
namespace {

struct Sum {
  double records = 0;
  double slope = 0;
};

/// The shares by `threshold`; `nodes` is empty when no limit can bind, which spares reading them.
Sum share_by(double threshold, const std::vector<double>& speeds, std::span<const CostedNode> nodes,
             std::vector<double>& shares) {
  Sum sum;
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    const double x = threshold * speeds[i];
    const double w = boost::math::lambert_w0(x);
    const double records = w > 0 ? x / w : 1.0;
    shares[i] = records;
    if (!nodes.empty()) {
      const auto low = static_cast<double>(nodes[i].low);
      const auto high = static_cast<double>(nodes[i].high);
      shares[i] = std::clamp(records, low, high);
      sum.records += shares[i];
      if (records <= low || records >= high) continue;
    } else {
      sum.records += records;
    }
    sum.slope += speeds[i] / (1 + w);
  }
  return sum;
}

double first_threshold(const std::vector<double>& speeds, double records) {
  double total = 0;
  double weighted = 0;
  for (const double speed : speeds) {
    total += speed;
    if (speed > 0) weighted += speed * std::log(speed);
  }
  const double logarithm = std::log(records) + weighted / total - std::log(total);
  return records / total * std::max(logarithm, 0.5);
}

Shares lambert_shares(const Problem& problem, double) {
  const std::vector<CostedNode> nodes = costed_nodes(problem);
  std::vector<double> speeds = speeds_of(problem);
  const double fastest = *std::max_element(speeds.begin(), speeds.end());
  for (double& speed : speeds) speed /= fastest;

  const auto records = static_cast<double>(problem.records);
  std::vector<double> shares(speeds.size());
  double below = 0;    // a time at which no whole shares have finished
  double at_zero = 0;  // records that take no time: one a node
  bool limited = false;
  for (const CostedNode& node : nodes) {
    at_zero += static_cast<double>(std::clamp<std::int64_t>(1, node.low, node.high));
    limited = limited || node.low > 0 || node.high < problem.records;
  }
  const std::span<const CostedNode> limits = limited ? std::span(nodes) : std::span<const CostedNode>();
  if (at_zero < records) {  // else the fastest get one each, by rounding
    double threshold = first_threshold(speeds, records);
    double above = std::numeric_limits<double>::infinity();
    constexpr int kMaxPasses = 200;    // two or three without caps; halving where all nodes are at their caps
    constexpr double kEnough = 2e-15;  // relative to N: what rounding leaves of the sum
    for (int pass = 0; pass < kMaxPasses; ++pass) {
      const Sum sum = share_by(threshold, speeds, limits, shares);
      const double missing = records - sum.records;
      (missing > 0 ? below : above) = threshold;
      double next = sum.slope > 0 ? threshold + missing / sum.slope : 0.0;
      const bool converged = std::abs(next - threshold) <= kEnough * threshold;
      if (sum.slope > 0 && (converged || std::abs(missing) <= kEnough * records)) {
        below = std::max(below, std::min(threshold, next) * (1 - kEnough));
        break;
      }
      if (!(next > below && next < above)) next = below + (above - below) / 2;
      if (next <= below || next >= above) break;  // no double lies between
      threshold = next;
    }
  }
  Shares answer;
  answer.records = round_shares(nodes, std::move(shares), problem.records);
  const bool judged_by_this_model = !problem.scatter && problem.speed_shape && problem.speed_shape->is_plain_nlogn();
  if (judged_by_this_model) answer.lower_bound = below / fastest;
  return answer;
}

}  // namespace

extern const Strategy lambert_strategy{
    .name = "lambert", .summary = "exact for n ln n and speeds", .unsuitable = needs_speeds, .share = lambert_shares};

}  // namespace hetsort::partition
