// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/strategies/scatter_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "partition/cost/doubles.h"
#include "partition/rounding.h"

namespace hetsort::partition {

std::string needs_lines(const Problem& problem, bool affine_will_do) {
  const auto fits = [&](const CostPtr& cost) { return affine_will_do ? cost->affine().has_value() : is_linear(cost); };
  for (const ProblemNode& node : problem.nodes) {
    if (!fits(node.compute) || (node.receive && !fits(node.receive)))
      return fmt::format("it takes {} costs only, and those of node '{}' are not; scatter-exact takes any",
                         affine_will_do ? "linear and affine" : "linear", node.name);
  }
  return {};
}

namespace {

struct Part {
  double fraction;
  std::size_t node;
};

/// Orders nodes by the fraction of their share: from those nearest to their floor to those nearest to their ceiling,
/// the lower node first on ties. Fractions spread over [0, 1): a counting sort by as many buckets leaves few neighbours
/// to put right. O(p) expected.
std::vector<Part> by_fraction(const std::vector<double>& shares) {
  const auto buckets = static_cast<double>(shares.size());
  const auto bucket_of = [&](double fraction) {
    return std::min(static_cast<std::size_t>(fraction * buckets), shares.size() - 1);
  };
  std::vector<double> fractions(shares.size());
  std::vector<std::size_t> start(shares.size() + 1, 0);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    fractions[i] = shares[i] - std::floor(shares[i]);
    ++start[bucket_of(fractions[i]) + 1];
  }
  for (std::size_t i = 1; i < start.size(); ++i) start[i] += start[i - 1];
  std::vector<Part> order(shares.size());
  std::vector<std::size_t> next(start.begin(), start.end() - 1);
  for (std::size_t i = 0; i < shares.size(); ++i) order[next[bucket_of(fractions[i])]++] = {fractions[i], i};
  for (std::size_t i = 0; i + 1 < start.size(); ++i) {
    if (start[i + 1] - start[i] < 2) continue;
    std::sort(order.begin() + static_cast<std::ptrdiff_t>(start[i]),
              order.begin() + static_cast<std::ptrdiff_t>(start[i + 1]), [](const Part& a, const Part& b) {
                return a.fraction != b.fraction ? a.fraction < b.fraction : a.node < b.node;
              });
  }
  return order;
}

}  // namespace

std::vector<std::int64_t> round_nearest(const std::vector<double>& shares, const Problem& problem) {
  const std::vector<Part> order = by_fraction(shares);  // taken from both ends, so that the error stays small
  std::vector<std::int64_t> whole(shares.size(), 0);
  double error = 0;  // sum of rounded - real
  std::int64_t left = problem.records;
  std::size_t first = 0;
  std::size_t last = order.size();
  while (last - first > 1) {
    const bool up = error != 0 ? error < 0 : 1 - order[last - 1].fraction < order[first].fraction;
    const auto [fraction, i] = order[up ? last - 1 : first];
    (up ? --last : ++first);
    const double target = std::floor(shares[i]) + (up && fraction > 0 ? 1 : 0);
    error += target - shares[i];
    whole[i] = whole_part(target, left);
    left -= whole[i];
  }
  std::vector<CostedNode> limits = costed_nodes(problem);
  const std::size_t rest = order[first].node;
  whole[rest] = std::min(left, limits[rest].high);
  left -= whole[rest];
  hand_out(limits, whole, left);  // what its cap leaves, which only rounding errors can cause
  return whole;
}

double rounding_guarantee(const Problem& problem) {
  double receive = 0;
  double compute = 0;
  for (const ProblemNode& node : problem.nodes) {
    if (node.receive) receive += node.receive->value(1);
    compute = std::max(compute, node.compute->value(1));
  }
  return receive + compute;
}

}  // namespace hetsort::partition
