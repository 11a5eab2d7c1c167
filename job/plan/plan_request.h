// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A plan of one sort without ranks. In: what is asked. Out: a problem that is ready to plan, and the strategy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "job/options/option.h"
#include "job/request/request.h"
#include "partition/cluster.h"
#include "partition/plan.h"
#include "partition/scatter.h"

namespace hetsort::job {

/// Where the records of a whole run are before it.
enum class PlanInput : std::uint8_t {
  kShared,  ///< the nodes divide it as planned
  kEqual,   ///< each node has a file, all of one size
  kRoot,    ///< the root sends it
  kFiles,   ///< each node has its part of PlanRequest::input_files
};

struct PlanRequest {
  std::optional<std::int64_t> records{};
  std::optional<double> within_seconds{};  ///< instead of `records`: as many as take at most so long
  ShareRequest shares{};                   ///< strategy, speeds or cluster file, curves
  std::optional<PlanInput> input{};        ///< none = kRoot if the cluster file has one and no whole runs, else kShared
  std::vector<std::string> input_files{};  ///< files with {rank}, or one a node; their sizes replace `records`
  partition::CostPtr cost{};               ///< work of n records where only speeds are known; none = n log n
  std::optional<partition::SendingOrder> order{};  ///< order of a scatter; none = by bandwidth
  std::string root{};                              ///< the node that holds the data of a scatter; "auto" = the best one
  std::uint64_t record_bytes = 100;                ///< turns memory into caps
  bool ignore_memory = false;                      ///< no caps from the nodes' memory
  bool critical = false;                           ///< only the smallest set of nodes that keeps the data in memory
  bool sync = true;                                ///< a whole run waits until its output is on the disk
};

/// `strategy_help`: what help says of the strategy.
void add_plan_options(Options& options, PlanRequest& request, const std::string& strategy_help);
/// Throws: RequestError for options that need others or exclude them.
void check_plan(const Options& options, const PlanRequest& request);

struct PreparedPlan {
  partition::Problem problem;               ///< ready to plan: caps, critical set, sending order and root are resolved
  partition::StrategyChoice strategy;       ///< not used when comparing, and not if `outside` is set
  std::string outside{};                    ///< strategy that is a program, see outside_strategy.h; or empty
  std::string note{};                       ///< remark for the user on the costs; or empty
  std::string heading{};                    ///< a line for the user, such as the critical number; or empty
  std::vector<std::string> explanations{};  ///< further lines
  std::vector<partition::ClusterNode> cluster_nodes{};  ///< nodes of the cluster file, in its order
};

/// Reads the files that the request names. With `within_seconds` it plans some 60 times. Throws: RequestError,
/// partition::PlanError, io::Error.
PreparedPlan prepare_plan(const PlanRequest& request);
/// Sets the strategy: the one that is asked for, or the usual one. Requires: the problem is ready to plan.
void choose_strategy_of(PreparedPlan& plan, const PlanRequest& request);
/// The plan by the strategy of a prepared plan. Throws: partition::PlanError; RequestError.
partition::Plan plan_of(const PreparedPlan& prepared);
/// The cost of n records where only speeds are known.
partition::CostPtr cost_of(const PlanRequest& request);

}  // namespace hetsort::job
