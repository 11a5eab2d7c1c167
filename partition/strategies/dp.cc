// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// dp: the dynamic program of Cerin, Dubacq, Roch 2006, section 4, for any costs, also falling ones:
//   T(m, i) = min_e max(f_i(e), T(m - e, i - 1)).
// O(p N^2) time: the oracle of the tests. Where that is too much, shares are multiples of a grid of g records, except
// for the node with most room, which takes what the grid leaves: O(p (N/g)^2) time and O(p N/g) memory. g is chosen so
// that the time does not depend on N.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "partition/cost/doubles.h"
#include "partition/error.h"
#include "partition/strategies/model.h"
#include "partition/threshold.h"

namespace hetsort::partition {
namespace {

constexpr double kMaxGridSteps = 4e8;  // steps that take about half a second

/// The number of records of a grid step: 1 when the full program is affordable.
std::int64_t grid_of(std::int64_t records, std::size_t nodes) {
  const double points = std::max(16.0, std::sqrt(2 * kMaxGridSteps / static_cast<double>(nodes)));
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(records) / points));
}

double cost_of(const CostedNode& node, std::int64_t records) {
  if (records < node.low || records > node.high) return kInfinity;
  return records > 0 ? node.value(static_cast<double>(records)) : 0.0;
}

struct Row {
  std::vector<double> best;          // T(m, i), in grid steps
  std::vector<std::int32_t> choice;  // the e that reached it
};

Row add_node(const CostedNode& node, const std::vector<double>& before, std::int64_t grid) {
  const std::size_t size = before.size();
  std::vector<double> cost(size);
  for (std::size_t e = 0; e < size; ++e) cost[e] = cost_of(node, static_cast<std::int64_t>(e) * grid);
  Row row{std::vector<double>(size, kInfinity), std::vector<std::int32_t>(size, 0)};
  for (std::size_t m = 0; m < size; ++m) {
    for (std::size_t e = 0; e <= m; ++e) {
      const double time = std::max(cost[e], before[m - e]);
      if (time < row.best[m]) {
        row.best[m] = time;
        row.choice[m] = static_cast<std::int32_t>(e);
      }
    }
  }
  return row;
}

Shares dp_shares(const Problem& problem, double) {
  const std::vector<CostedNode> nodes = costed_nodes(problem);
  const std::int64_t grid = grid_of(problem.records, nodes.size());
  const auto steps = static_cast<std::size_t>(problem.records / grid);
  const auto roomiest = static_cast<std::size_t>(
      std::max_element(nodes.begin(), nodes.end(),
                       [](const CostedNode& a, const CostedNode& b) { return a.high - a.low < b.high - b.low; }) -
      nodes.begin());

  std::vector<double> best(steps + 1, kInfinity);
  best[0] = 0;
  std::vector<std::vector<std::int32_t>> choices;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (i == roomiest) continue;
    Row row = add_node(nodes[i], best, grid);
    best = std::move(row.best);
    choices.push_back(std::move(row.choice));
  }

  double makespan = kInfinity;
  std::size_t taken = 0;  // grid steps that the others take
  for (std::size_t m = 0; m <= steps; ++m) {
    const std::int64_t rest = problem.records - static_cast<std::int64_t>(m) * grid;
    const double time = std::max(best[m], cost_of(nodes[roomiest], rest));
    if (time < makespan) {
      makespan = time;
      taken = m;
    }
  }
  if (makespan == kInfinity)
    throw PlanError(fmt::format("strategy 'dp' finds no shares within the limits on its grid of {} records", grid));

  Shares answer;
  answer.records.assign(nodes.size(), 0);
  answer.records[roomiest] = problem.records - static_cast<std::int64_t>(taken) * grid;
  for (std::size_t i = nodes.size(), row = choices.size(); i-- > 0;) {
    if (i == roomiest) continue;
    const std::int32_t e = choices[--row][taken];
    answer.records[i] = e * grid;
    taken -= static_cast<std::size_t>(e);
  }
  if (grid > 1) answer.note = fmt::format("on a grid of {} records", grid);
  return answer;
}

}  // namespace

extern const Strategy dp_strategy{
    .name = "dp", .summary = "any costs, also falling ones; on a grid when N is large", .share = dp_shares};

}  // namespace hetsort::partition
