// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>

#include "partition/error.h"
#include "partition/lower_bound.h"

namespace hetsort::partition {
namespace {

/// Checks that a share is within its node's limits, which every strategy must keep.
void check_limits(const ProblemNode& node, std::int64_t share, std::string_view strategy) {
  if (share <= node.max_records && share >= node.min_records) return;
  throw PlanError(
      fmt::format("strategy '{}' would give node '{}' {} records, outside its limits of {} to {}; "
                  "threshold and scatter-exact keep caps",
                  strategy, node.name, share, node.min_records, node.max_records));
}

std::string why_unsuitable(const Problem& problem, const Strategy& strategy) {
  if (strategy.kind == Strategy::Kind::kScatter && !problem.scatter)
    return "it plans a scatter: one node must be the root and the others need a receive cost";
  return strategy.unsuitable ? strategy.unsuitable(problem) : std::string();
}

Shares shares_of(const Problem& problem, const StrategyChoice& choice) {
  const Strategy& strategy = *choice.strategy;
  if (const std::string reason = why_unsuitable(problem, strategy); !reason.empty())
    throw PlanError(fmt::format("strategy '{}' does not apply: {}", choice.text, reason));
  if (problem.records == 0) {
    Shares none;
    none.records.assign(problem.nodes.size(), 0);
    none.lower_bound = 0;
    return none;
  }
  return strategy.share(problem, choice.parameter);
}

/// Adds the input shares and the prediction of the whole run to the plan.
void add_run(Plan& plan, const Problem& problem, const Shares& shares) {
  std::vector<std::int64_t> input = given_input(problem);
  if (input.empty()) input = shares.input.empty() ? shares.records : shares.input;
  for (std::size_t i = 0; i < input.size(); ++i) plan.nodes[i].input = input[i];
  plan.run_missing = problem.scatter ? "a root sends the input" : problem.run_missing;
  if (problem.run && !problem.scatter) plan.run = predict_run(run_model_of(problem), input, shares.records);
  if (problem.program) plan.program = problem.program->predict(input, shares.records);
}

Plan assemble(const Problem& problem, const std::string& strategy, Shares shares) {
  Plan plan;
  plan.strategy = strategy;
  plan.records = problem.records;
  plan.unit = unit_of_costs(problem);
  plan.guarantee = shares.guarantee;
  plan.note = std::move(shares.note);
  plan.history = std::move(shares.history);
  plan.explanation = std::move(shares.explanation);
  const std::vector<double> finish = finish_times(problem, shares.records);
  plan.nodes.reserve(finish.size());
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < finish.size(); ++i) {
    check_limits(problem.nodes[i], shares.records[i], strategy);
    sum += shares.records[i];
    plan.nodes.push_back({problem.nodes[i].name, shares.records[i], finish[i]});
    plan.nodes.back().number = problem.nodes[i].number;
    if (!shares.processes.empty()) plan.nodes.back().processes = shares.processes[i];
    plan.makespan = std::max(plan.makespan, finish[i]);
  }
  if (sum != problem.records)
    throw PlanError(fmt::format("strategy '{}' shares {} records instead of {}", strategy, sum, problem.records));
  if (!(plan.makespan <= std::numeric_limits<double>::max()))
    throw PlanError(fmt::format("strategy '{}': the costs of the planned shares do not fit a double", strategy));
  // The bound of a strategy is proven for costs that never fall, which a program's may do.
  const bool proven = shares.lower_bound && !problem.program_costs;
  const double bound = proven ? *shares.lower_bound : lower_bound(problem);
  plan.lower_bound = std::min(bound, plan.makespan);  // an optimum can lie below its bound by rounding errors
  add_run(plan, problem, shares);
  return plan;
}

std::string default_text(const Strategy& strategy, double parameter) {
  return strategy.parameter.empty() || strategy.usual_parameter ? std::string(strategy.name)
                                                                : fmt::format("{}:{}", strategy.name, parameter);
}

}  // namespace

Plan make_plan(const Problem& problem, const StrategyChoice& choice) {
  validate(problem);
  return assemble(problem, choice.text, shares_of(problem, choice));
}

Plan plan_of_shares(const Problem& problem, const std::string& strategy, std::vector<std::int64_t> records,
                    std::vector<std::int64_t> input) {
  validate(problem);
  for (const std::vector<std::int64_t>* const shares : {&records, &input}) {
    if (shares->empty() && shares == &input) continue;
    if (shares->size() != problem.nodes.size())
      throw PlanError(fmt::format("{} shares are given for {} nodes", shares->size(), problem.nodes.size()));
    std::int64_t sum = 0;
    for (const std::int64_t share : *shares)
      if (share < 0 || __builtin_add_overflow(sum, share, &sum))
        throw PlanError("the shares that are given are negative or sum to 2^63 or more");
    if (sum != problem.records)
      throw PlanError(
          fmt::format("the shares that are given sum to {} records, and there are {}", sum, problem.records));
  }
  Shares shares;
  shares.records = std::move(records);
  shares.input = std::move(input);
  return assemble(problem, strategy, std::move(shares));
}

Plan make_plan(const Problem& problem, std::string_view strategy) {
  return make_plan(problem, choose_strategy(strategy));
}

Comparison compare_strategies(const Problem& problem) {
  validate(problem);
  Comparison comparison;
  double bound = 0;
  for (const Strategy* strategy : all_strategies()) {
    std::string reason = why_unsuitable(problem, *strategy);
    if (reason.empty() && strategy->slow && strategy->slow(problem)) reason = "it would take long; name it to run it";
    if (!reason.empty()) {
      comparison.left_out.push_back({std::string(strategy->name), reason});
      continue;
    }
    const double usual = strategy->usual_parameter.value_or(0);
    const double parameter = strategy->default_parameter ? strategy->default_parameter(problem) : usual;
    const StrategyChoice choice{strategy, parameter, default_text(*strategy, parameter)};
    const auto begin = std::chrono::steady_clock::now();
    try {
      Plan plan = make_plan(problem, choice);
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
      bound = std::max(bound, plan.lower_bound);
      comparison.plans.push_back({std::move(plan), taken.count()});
    } catch (const PlanError& error) {
      comparison.left_out.push_back({choice.text, error.what()});
    }
  }
  for (TimedPlan& timed : comparison.plans) timed.plan.lower_bound = std::min(bound, timed.plan.makespan);
  return comparison;
}

double finish_spread(const Plan& plan) {
  double earliest = std::numeric_limits<double>::infinity();
  for (const NodePlan& node : plan.nodes)
    if (node.records > 0) earliest = std::min(earliest, node.finish);
  return plan.makespan > 0 ? (plan.makespan - earliest) / plan.makespan : 0.0;
}

}  // namespace hetsort::partition
