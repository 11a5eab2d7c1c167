// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The planner's answer: shares, the finish time of each node, the makespan, and a bound no plan can beat.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "problem.h"
#include "program_predictor.h"
#include "run/predict_run.h"
#include "strategy.h"

namespace hetsort::partition {

struct NodePlan {
  std::string name;
  std::int64_t records = 0;
  double finish = 0;           ///< seconds or work units, as the problem's costs; 0 without records
  std::int64_t processes = 0;  ///< processes of equal size that it runs one after the other; 0 if the strategy has none
  std::int64_t input = 0;  ///< records that it reads: as `records` unless it has its own or the strategy says otherwise
  std::size_t number = 0;  ///< see numbers_of_names()
};

struct Plan {
  std::string strategy;             ///< name of the strategy as the user wrote it, "power:1.5"
  std::int64_t records = 0;         ///< the sum over the nodes
  std::string_view unit = "s";      ///< unit of the makespan and finish times: "s" or "work units"
  double makespan = 0;              ///< the latest finish
  double lower_bound = 0;           ///< proven: no whole shares finish earlier (in this sending order, for a scatter)
  std::optional<double> guarantee;  ///< makespan <= optimum + guarantee, where the strategy promises one
  std::string note;                 ///< a remark for the user, or empty
  std::vector<NodePlan> nodes;      ///< plans of the nodes, in the problem's order
  /// The whole run with these shares, if the problem has its model and no root sends.
  std::optional<RunPrediction> run{};
  std::string explanation{};                   ///< one sentence that explains a plan of a whole run, or empty
  std::string run_missing{};                   ///< why there is no `run`, if that is known
  std::vector<SearchStep> history{};           ///< better and better plans that a search found
  std::optional<ProgramPrediction> program{};  ///< prediction for the problem's program with these shares
};

/// Plans `problem` with one strategy. Any problem of zero records gives all zeros.
/// Throws: PlanError when the problem is not valid, the strategy does not apply to it (no speeds, no root, costs it
/// does not know), or it cannot keep a cap. Thread safety: pure, any number of calls may run at once.
/// Complexity: the strategy's plus O(p). Allocates: O(p) plus the strategy's.
Plan make_plan(const Problem& problem, const StrategyChoice& choice);

/// Plans with the strategy of this name: "lambert", "power:1.5". Throws: also PlanError for an unknown name or
/// parameter.
Plan make_plan(const Problem& problem, std::string_view strategy);

/// The plan of shares that the caller has: when each node finishes, and what is predicted. `strategy` names them in the
/// plan; `input` is what the nodes read of a shared input, empty = as `records`. Throws: PlanError when the problem is
/// not valid, or the shares are not one for each node, do not sum to its records or exceed a cap.
Plan plan_of_shares(const Problem& problem, const std::string& strategy, std::vector<std::int64_t> records,
                    std::vector<std::int64_t> input);

struct TimedPlan {
  Plan plan;
  double plan_seconds = 0;  ///< wall-clock time to plan
};

/// A strategy that a comparison left out, and why.
struct LeftOut {
  std::string strategy;
  std::string reason;
};

struct Comparison {
  std::vector<TimedPlan> plans;  ///< plans in the table's order, all with the same (best proven) lower bound
  std::vector<LeftOut> left_out;
};

/// Plans with every strategy that applies, parameters at their defaults.
/// Throws: PlanError when the problem is not valid.
Comparison compare_strategies(const Problem& problem);

/// (latest - earliest finish) / latest, over the nodes that have records; 0 when there is none.
double finish_spread(const Plan& plan);

}  // namespace hetsort::partition
