// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// learned: shares by measured curves (Cerin, Dubacq, Roch 2006, section 3.3; the curves come from learning.h). While
// nothing is measured the paper's linear guess holds: cost n / k, that is shares in proportion to the speeds.
// O(p log q) a step of the threshold search, with q points a curve.
#include <fmt/format.h>

#include "partition/strategies/model.h"
#include "partition/threshold.h"

namespace hetsort::partition {
namespace {

bool any_measured(const Problem& problem) {
  for (const ProblemNode& node : problem.nodes)
    if (node.measured) return true;
  return false;
}

std::string unsuitable_for_learned(const Problem& problem) {
  if (!any_measured(problem)) return needs_speeds(problem);
  for (const ProblemNode& node : problem.nodes)
    if (!node.measured) return fmt::format("node '{}' has no measured curve", node.name);
  return {};
}

Shares learned_shares(const Problem& problem, double) {
  const bool measured = any_measured(problem);
  const CostPtr guess = linear_cost(1);
  std::vector<CostedNode> nodes = costed_nodes(problem);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].shape = measured ? problem.nodes[i].measured.get() : guess.get();
    nodes[i].speed = measured ? 1.0 : *problem.nodes[i].speed;
  }
  Shares answer;
  answer.records = solve_threshold(nodes, problem.records).shares;
  if (!measured) answer.note = "nothing is measured yet: costs are guessed linear";
  return answer;
}

}  // namespace

extern const Strategy learned_strategy{.name = "learned",
                                       .summary = "exact for measured curves; linear guess before the first",
                                       .unsuitable = unsuitable_for_learned,
                                       .share = learned_shares};

}  // namespace hetsort::partition
