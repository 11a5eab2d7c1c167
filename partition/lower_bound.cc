// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/lower_bound.h"

#include <algorithm>
#include <vector>

#include "partition/cost/scatter_rate.h"
#include "partition/threshold.h"

namespace hetsort::partition {
namespace {

/// The slope of a line through the origin that is nowhere above the cost of 1 to `limit` records.
double slope_below(const CostPtr& cost, std::int64_t limit) {
  if (!cost || limit <= 0) return 0;
  const auto line = cost->affine();
  return line ? line->per_record + line->start / static_cast<double>(limit) : 0.0;
}

/// What a program costs can fall somewhere, so that only what no plan avoids bounds one.
double unavoidable_bound(const Problem& problem) {
  std::vector<CostPtr> costs;
  std::vector<CostedNode> nodes = costed_nodes(problem);
  costs.reserve(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    costs.push_back(problem.program->unavoidable_cost(i));
    nodes[i].shape = costs.back().get();
    nodes[i].speed = 1;
  }
  return threshold_lower_bound(nodes, problem.records);
}

}  // namespace

double scatter_lower_bound(const Problem& problem) {
  if (problem.records == 0) return 0;
  std::vector<LinearNode> lines;
  lines.reserve(problem.nodes.size());
  bool linear = true;
  for (const ProblemNode& node : problem.nodes) {
    const std::int64_t limit = std::min(problem.records, node.max_records);
    lines.push_back({slope_below(node.receive, limit), slope_below(node.compute, limit)});
    linear = linear && is_linear(node.compute) && (!node.receive || is_linear(node.receive));
  }
  const double by_lines = static_cast<double>(problem.records) * scatter_rate(lines);
  if (linear) return problem.start_delay + by_lines;
  const double without_sending = threshold_lower_bound(costed_nodes(problem), problem.records);
  return problem.start_delay + std::max(by_lines, without_sending);
}

double lower_bound(const Problem& problem) {
  if (problem.scatter) return scatter_lower_bound(problem);
  if (problem.records == 0) return 0;
  if (problem.program_costs) return problem.start_delay + unavoidable_bound(problem);
  return problem.start_delay + threshold_lower_bound(costed_nodes(problem), problem.records);
}

}  // namespace hetsort::partition
