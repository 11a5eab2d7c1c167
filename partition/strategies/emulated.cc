// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// emulated:V: V equal virtual processes, of which node i runs v_i one after another (Violard, David, Schwarz, section
// 3.2). v_i is in proportion to the speeds, rounded by largest remainder (lowest index on ties); the first N mod V
// virtual processes hold one record more, and the nodes take consecutive ones. O(p log p). `hetsort sort` runs them as
// the parts in sort/model/shares.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "partition/cost/doubles.h"
#include "partition/error.h"
#include "partition/strategies/model.h"

namespace hetsort::partition {
namespace {

constexpr double kMaxProcesses = 1e15;  // far below 2^53, so that proportions stay exact enough

std::vector<std::int64_t> virtual_processes(const Problem& problem, std::int64_t processes) {
  std::vector<double> parts = shares_in_proportion(problem, 1);
  const double scale = static_cast<double>(processes) / static_cast<double>(problem.records);
  std::vector<std::int64_t> counts(parts.size());
  std::int64_t left = processes;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i] *= scale;
    // A proportion that differs from a whole number only by rounding errors counts as whole.
    const double nearest = std::round(parts[i]);
    constexpr double kRounding = 1e-13;
    if (std::abs(parts[i] - nearest) <= kRounding * nearest) parts[i] = nearest;
    counts[i] = whole_part(parts[i], left);
    left -= counts[i];
    parts[i] -= static_cast<double>(counts[i]);
  }
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return parts[a] > parts[b]; });
  for (std::size_t i = 0; left > 0; i = (i + 1) % order.size(), --left) ++counts[order[i]];
  return counts;
}

Shares emulated_shares(const Problem& problem, double parameter) {
  if (!(parameter >= 1 && parameter <= kMaxProcesses && parameter == std::floor(parameter)))
    throw PlanError(fmt::format("strategy 'emulated': V must be a whole number from 1 to 1e15, not {}", parameter));
  const auto processes = static_cast<std::int64_t>(parameter);
  const std::int64_t each = problem.records / processes;
  const std::int64_t larger = problem.records % processes;
  Shares answer;
  std::int64_t first = 0;
  answer.processes = virtual_processes(problem, processes);
  for (const std::int64_t count : answer.processes) {
    const std::int64_t extra = std::clamp<std::int64_t>(larger - first, 0, count);
    answer.records.push_back(count * each + extra);
    first += count;
  }
  return answer;
}

/// The number of processes if the slowest node has one: the paper's normalised ratings.
double by_slowest(const Problem& problem) {
  const std::vector<double> speeds = speeds_of(problem);
  const double slowest = *std::min_element(speeds.begin(), speeds.end());
  const double sum = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  return std::clamp(std::round(sum / slowest), 1.0, kMaxProcesses);
}

}  // namespace

extern const Strategy emulated_strategy{.name = "emulated",
                                        .parameter = "V",
                                        .summary = "V equal virtual processes, several a node",
                                        .unsuitable = needs_speeds,
                                        .share = emulated_shares,
                                        .default_parameter = by_slowest};

}  // namespace hetsort::partition
