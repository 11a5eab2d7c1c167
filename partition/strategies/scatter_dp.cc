// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// scatter-dp: Algorithm 1 of Genaud, Giersch, Vivien 2003, for any costs that are not negative:
//   cost(d, i) = min_e receive_i(e) + max(compute_i(e), cost(d - e, i + 1)),  cost(d, p) = compute_p(d).
// O(p N^2) time and 4 p (N + 1) bytes: the oracle for scatter-exact, and the answer for costs that fall.
#include <fmt/format.h>

#include <algorithm>

#include "partition/cost/doubles.h"
#include "partition/error.h"
#include "partition/lower_bound.h"
#include "partition/strategies/scatter_model.h"

namespace hetsort::partition {
namespace {

constexpr double kMaxSteps = 4e10;  // steps that take about a minute
constexpr double kQuickSteps = 4e8;

double steps(const Problem& problem) {
  const auto records = static_cast<double>(problem.records);
  return records * records / 2 * static_cast<double>(problem.nodes.size());
}

std::vector<double> tabulate(const CostPtr& cost, std::size_t size, std::int64_t cap) {
  std::vector<double> table(size, 0.0);
  for (std::size_t n = 1; n < size; ++n) {
    if (cost) table[n] = cost->value(static_cast<double>(n));
    if (static_cast<std::int64_t>(n) > cap) table[n] = kInfinity;
  }
  return table;
}

Shares scatter_dp_shares(const Problem& problem, double) {
  if (steps(problem) > kMaxSteps)
    throw PlanError(
        fmt::format("strategy 'scatter-dp' would take {:.1g} steps for {} records on {} nodes; "
                    "scatter-exact finds the same optimum in O(p N)",
                    steps(problem), problem.records, problem.nodes.size()));
  const auto size = static_cast<std::size_t>(problem.records) + 1;
  const std::size_t count = problem.nodes.size();
  std::vector<double> next = tabulate(problem.nodes.back().compute, size, problem.nodes.back().max_records);
  std::vector<std::vector<std::int32_t>> choices(count - 1);
  for (std::size_t i = count - 1; i-- > 0;) {
    const ProblemNode& node = problem.nodes[i];
    const std::vector<double> receive = tabulate(node.receive, size, node.max_records);
    const std::vector<double> compute = tabulate(node.compute, size, node.max_records);
    std::vector<double> current(size, kInfinity);
    choices[i].assign(size, 0);
    for (std::size_t d = 0; d < size; ++d) {
      for (std::size_t e = 0; e <= d; ++e) {
        const double time = receive[e] + std::max(compute[e], next[d - e]);
        if (time < current[d]) {
          current[d] = time;
          choices[i][d] = static_cast<std::int32_t>(e);
        }
      }
    }
    next = std::move(current);
  }

  Shares answer;
  std::size_t left = size - 1;
  for (const std::vector<std::int32_t>& choice : choices) {
    answer.records.push_back(choice[left]);
    left -= static_cast<std::size_t>(choice[left]);
  }
  answer.records.push_back(static_cast<std::int64_t>(left));
  const bool linear = needs_lines(problem, false).empty();
  answer.lower_bound = scatter_lower_bound(problem);
  if (!linear) answer.lower_bound = std::max(*answer.lower_bound, problem.start_delay + next.back());
  return answer;
}

bool slow_for_scatter_dp(const Problem& problem) { return steps(problem) > kQuickSteps; }

}  // namespace

extern const Strategy scatter_dp_strategy{.name = "scatter-dp",
                                          .summary = "scatter: the paper's program, any costs, O(p N^2)",
                                          .kind = Strategy::Kind::kScatter,
                                          .share = scatter_dp_shares,
                                          .slow = slow_for_scatter_dp};

}  // namespace hetsort::partition
