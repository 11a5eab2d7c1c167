// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What the command line of `hetsort plan` and the files that it names ask for.
#pragma once

#include <boost/program_options.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "partition/cluster.h"
#include "partition/plan.h"

namespace hetsort::cli {

/// Which nodes each of the --jobs gets.
enum class QueuePolicy {
  kAll,       ///< all nodes: one job after the other
  kSpeedup,   ///< the fastest free ones, doubled as long as that makes it 1.2 times as fast
  kCritical,  ///< the fewest free ones that keep its records in memory
};

enum class PlanOutput { kTable, kJson, kHostfile };

struct PlanRequest {
  partition::Problem problem;          ///< ready to plan: caps, critical set, sending order and root are resolved
  partition::StrategyChoice strategy;  ///< strategy of the plan; not used when comparing
  bool compare = false;
  PlanOutput output = PlanOutput::kTable;
  std::string heading;                    ///< a line to print first, such as the critical number; or empty
  bool explain = false;                   ///< also print what bounds each node
  std::vector<std::string> explanations;  ///< further lines to print with `explain`
  std::optional<std::string> plot_path;
  std::vector<partition::ClusterNode> cluster_nodes;  ///< nodes of the cluster file, in its order
};

/// What --program asks of a library that has a model of programs. Both throw partition::PlanError.
struct ProgramModels {
  /// The problem of the program in the file at `path`, on the nodes of the cluster. `rows` replaces those of the file.
  std::function<partition::Problem(const std::string& path, const partition::Cluster& cluster,
                                   std::optional<std::int64_t> rows)>
      of_file;
  /// A sort of so many records as a program.
  std::function<std::shared_ptr<const partition::ProgramPredictor>(const partition::RunModel& model,
                                                                   std::int64_t records)>
      of_sort;
};

/// Checks and reads the files that the options name. Requires: `programs` is complete where --program is given.
/// Throws: UsageError, partition::PlanError, and io::Error for files that cannot be read.
PlanRequest plan_request_of(const boost::program_options::variables_map& values, const ProgramModels& programs = {});

/// The text of --help.
std::string plan_help();

}  // namespace hetsort::cli
