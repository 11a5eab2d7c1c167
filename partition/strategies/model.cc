// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/strategies/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "partition/rounding.h"

namespace hetsort::partition {

std::string needs_speeds(const Problem& problem) {
  for (const ProblemNode& node : problem.nodes)
    if (!node.speed) return fmt::format("it reads only speeds, and node '{}' has none", node.name);
  return {};
}

std::vector<double> speeds_of(const Problem& problem) {
  assert(needs_speeds(problem).empty());
  std::vector<double> speeds;
  speeds.reserve(problem.nodes.size());
  for (const ProblemNode& node : problem.nodes) speeds.push_back(*node.speed);
  return speeds;
}

Shares rounded(const Problem& problem, std::vector<double> shares) {
  Shares answer;
  answer.records = round_shares(costed_nodes(problem), std::move(shares), problem.records);
  return answer;
}

std::vector<double> shares_in_proportion(const Problem& problem, double exponent) {
  std::vector<double> shares = speeds_of(problem);
  const double fastest = *std::max_element(shares.begin(), shares.end());
  double sum = 0;
  for (double& share : shares) {
    share = exponent == 1 ? share / fastest : std::pow(share / fastest, exponent);
    sum += share;
  }
  for (double& share : shares) share *= static_cast<double>(problem.records) / sum;
  return shares;
}

}  // namespace hetsort::partition
