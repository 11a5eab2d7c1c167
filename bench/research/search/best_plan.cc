// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/research/search/best_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "partition/cost/doubles.h"
#include "partition/error.h"
#include "partition/rounding.h"

namespace hetsort::research {
namespace {

constexpr double kMaxSearchSeconds = 86'400;

double seconds_of_shares(const partition::Problem& problem, const std::vector<std::int64_t>& shares) {
  if (problem.program) {
    const std::vector<std::int64_t> input = given_input(problem);
    return problem.program->predict(input.empty() ? shares : input, shares).seconds;
  }
  double latest = 0;
  for (const double finish : finish_times(problem, shares)) latest = std::max(latest, finish);
  return latest;
}

}  // namespace

BestPlan::BestPlan(const partition::Problem& problem, double budget_seconds)
    : problem_(problem), nodes_(costed_nodes(problem)), budget_seconds_(budget_seconds) {
  if (!(budget_seconds > 0 && budget_seconds <= kMaxSearchSeconds))
    throw partition::PlanError(
        fmt::format("a search takes more than 0 and at most {} seconds, not {}", kMaxSearchSeconds, budget_seconds));
}

bool BestPlan::within_limits(const std::vector<std::int64_t>& shares) const {
  for (std::size_t i = 0; i < shares.size(); ++i)
    if (shares[i] < nodes_[i].low || shares[i] > nodes_[i].high) return false;
  return true;
}

double BestPlan::judge(const std::vector<std::int64_t>& shares) {
  double value = seconds_of_shares(problem_, shares);
  if (std::isnan(value)) value = partition::kInfinity;
  if (best_.empty() || value < history_.back().makespan) {
    best_ = shares;
    history_.push_back({elapsed(), value});
  }
  return value;
}

double BestPlan::elapsed() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

bool BestPlan::time_is_over() const { return elapsed() >= budget_seconds_; }

std::vector<std::int64_t> BestPlan::random_shares() {
  std::vector<double> weights(nodes_.size());
  double sum = 0;
  for (double& weight : weights) sum += weight = 1e-3 + uniform();
  for (double& weight : weights) weight *= static_cast<double>(problem_.records) / sum;
  return round_shares(nodes_, std::move(weights), problem_.records);
}

std::int64_t BestPlan::whole_up_to(std::int64_t most) {
  const double value = uniform() * (static_cast<double>(most) + 1);
  return value >= static_cast<double>(most) ? most : static_cast<std::int64_t>(value);
}

partition::Shares BestPlan::answer() const {
  assert(!best_.empty());
  partition::Shares shares;
  shares.records = best_;
  shares.history = history_;
  return shares;
}

std::vector<std::int64_t> whole_shares(const BestPlan& plan, std::vector<double> shares, std::int64_t records) {
  return round_shares(plan.nodes(), std::move(shares), records);
}

bool slow_search(const partition::Problem& problem) {
  constexpr std::size_t kManyNodes = 256;
  return problem.nodes.size() > kManyNodes;
}

}  // namespace hetsort::research
