// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// threshold: exact for any non-decreasing costs, mixed kinds and limits; the solver is partition/threshold.h.
#include "partition/threshold.h"

#include <fmt/format.h>

#include "partition/strategies/model.h"

namespace hetsort::partition {
namespace {

std::string unsuitable_for_threshold(const Problem& problem) {
  for (const ProblemNode& node : problem.nodes)
    if (!node.compute->non_decreasing())
      return fmt::format("the cost of node '{}' falls somewhere; dp plans with such curves", node.name);
  return {};
}

Shares threshold_shares(const Problem& problem, double) {
  ThresholdSolution solution = solve_threshold(costed_nodes(problem), problem.records);
  Shares answer;
  answer.records = std::move(solution.shares);
  if (!problem.scatter) answer.lower_bound = problem.start_delay + solution.lower_bound;
  return answer;
}

}  // namespace

extern const Strategy threshold_strategy{.name = "threshold",
                                         .summary = "exact for any non-decreasing costs and caps",
                                         .unsuitable = unsuitable_for_threshold,
                                         .share = threshold_shares};

}  // namespace hetsort::partition
