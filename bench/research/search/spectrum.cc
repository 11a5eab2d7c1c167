// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// spectrum:X: the distributions of Nakazawa 2005, Fig. 6.1, and those on the line between them. X = 0 is Blk (equal
// blocks), 1 I-C (in core: as few rows on disk as possible, loads ignored), 2 I-C/Bal (as many nodes in core as
// possible, then loads balanced), 3 Bal (loads balanced, disks ignored), 4 Blk again. O(p log p).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "bench/research/mheta/program_problem.h"
#include "bench/research/mheta/stage_times.h"
#include "partition/costed_node.h"
#include "partition/error.h"
#include "partition/rounding.h"
#include "partition/strategies/model.h"
#include "partition/threshold.h"

namespace hetsort::research {
namespace {

using Rows = std::vector<std::int64_t>;

const ProgramOnNodes* program_of(const partition::Problem& problem) {
  return dynamic_cast<const ProgramOnNodes*>(problem.program.get());
}

std::string needs_program(const partition::Problem& problem) {
  return problem.program_costs && program_of(problem) != nullptr ? ""
                                                                 : "it needs a program, which says what is in core";
}

/// The nodes with the costs of computing alone.
class ComputingNodes {
 public:
  explicit ComputingNodes(const partition::Problem& problem) : nodes(costed_nodes(problem)) {
    costs_.reserve(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      costs_.push_back(problem.program->unavoidable_cost(i));
      nodes[i].shape = costs_.back().get();
      nodes[i].speed = 1;
    }
  }
  std::vector<partition::CostedNode> nodes;

 private:
  std::vector<partition::CostPtr> costs_;
};

Rows blocks(const partition::Problem& problem) {
  const auto count = static_cast<std::int64_t>(problem.nodes.size());
  Rows rows(problem.nodes.size());
  for (std::int64_t i = 0; i < count; ++i)
    rows[static_cast<std::size_t>(i)] = problem.records / count + (i < problem.records % count ? 1 : 0);
  return rows;
}

Rows capacities(const partition::Problem& problem) {
  const ProgramModel& model = program_of(problem)->model();
  Rows rows;
  rows.reserve(problem.nodes.size());
  for (std::size_t i = 0; i < problem.nodes.size(); ++i) {
    const double held = std::floor(in_core_rows(model, i));
    rows.push_back(held >= static_cast<double>(problem.records) ? problem.records : static_cast<std::int64_t>(held));
  }
  return rows;
}

/// Equal blocks, cut to what memory holds; the rest to nodes with room, or to all in equal parts if there is none.
Rows in_core(const partition::Problem& problem, const Rows& capacity) {
  Rows rows = blocks(problem);
  std::int64_t left = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int64_t cut = std::max<std::int64_t>(0, rows[i] - capacity[i]);
    rows[i] -= cut;
    left += cut;
  }
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t node) { return capacity[node] - rows[node]; });
  // Nodes with the least room come first, so that the others get equal parts.
  for (std::size_t place = 0; place < order.size(); ++place) {
    const std::size_t node = order[place];
    const std::int64_t part = left / static_cast<std::int64_t>(order.size() - place);
    const std::int64_t taken = std::min(part, capacity[node] - rows[node]);
    rows[node] += taken;
    left -= taken;
  }
  const auto count = static_cast<std::int64_t>(rows.size());
  const std::int64_t more = left / count;
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] += more + (static_cast<std::int64_t>(i) < left % count ? 1 : 0);
  return rows;
}

Rows in_core_balanced(const partition::Problem& problem, const Rows& capacity) {
  ComputingNodes computing(problem);
  std::vector<partition::CostedNode>& nodes = computing.nodes;
  std::vector<std::size_t> order(nodes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {},
                           [&](std::size_t node) { return nodes[node].value(static_cast<double>(problem.records)); });
  const std::vector<partition::CostedNode> limits = nodes;
  std::int64_t missing = problem.records;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].high = std::clamp(capacity[i], nodes[i].low, nodes[i].high);
    missing -= std::min(missing, nodes[i].high);
  }
  // As few nodes as possible go to their disks: the one that computes fastest first.
  for (const std::size_t node : order) {
    if (missing == 0) break;
    const std::int64_t more = limits[node].high - nodes[node].high;
    nodes[node].high = limits[node].high;
    missing -= std::min(missing, more);
  }
  return solve_threshold(nodes, problem.records).shares;
}

partition::Shares spectrum_shares(const partition::Problem& problem, double place) {
  if (!(place >= 0 && place <= 4))
    throw partition::PlanError(fmt::format("strategy 'spectrum': X must be from 0 to 4, not {}", place));
  const Rows capacity = capacities(problem);
  const ComputingNodes computing(problem);
  const auto anchor = [&](int number) {
    switch (number) {
      case 1:
        return in_core(problem, capacity);
      case 2:
        return in_core_balanced(problem, capacity);
      case 3:
        return solve_threshold(computing.nodes, problem.records).shares;
      default:
        return blocks(problem);
    }
  };
  const int before = std::min(3, static_cast<int>(place));
  const Rows left = anchor(before);
  const Rows right = anchor(before + 1);
  std::vector<double> rows(left.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i] = std::lerp(static_cast<double>(left[i]), static_cast<double>(right[i]), place - before);
  partition::Shares answer;
  answer.records = round_shares(computing.nodes, std::move(rows), problem.records);
  return answer;
}

}  // namespace

extern const partition::Strategy spectrum_strategy{
    .name = "spectrum",
    .parameter = "X",
    .summary = "programs: 0 equal, 1 in core, 2 in core and balanced, 3 balanced",
    .unsuitable = needs_program,
    .share = spectrum_shares,
    .default_parameter = [](const partition::Problem&) { return 2.0; }};

}  // namespace hetsort::research
