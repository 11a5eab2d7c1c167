// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What the command line of `hetsort plan` and the files that it names ask for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "job/plan/plan_request.h"
#include "partition/cluster.h"

namespace hetsort::cli {

/// Which nodes each of the --jobs gets.
enum class QueuePolicy {
  kAll,       ///< all nodes: one job after the other
  kSpeedup,   ///< the fastest free ones, doubled as long as that makes it 1.2 times as fast
  kCritical,  ///< the fewest free ones that keep its records in memory
};

/// The command line.
struct PlanCommand {
  job::PlanRequest request{};
  std::string program{};    ///< the file of an iterative program, or "sort"; empty = none
  std::string jobs_path{};  ///< several sorts; empty = one
  QueuePolicy policy = QueuePolicy::kCritical;
  bool compare = false;
  bool json = false;
  bool explain = false;
  bool hostfile = false;
  std::string plot_path{};  ///< empty = none
};
job::Options options_of(PlanCommand& command);

enum class PlanOutput : std::uint8_t { kTable, kJson, kHostfile };

/// A plan that is ready to be made, and how it is shown.
struct PlanRequest : job::PreparedPlan {
  bool compare = false;
  PlanOutput output = PlanOutput::kTable;
  bool explain = false;     ///< also print what bounds each node, and the explanations
  std::string plot_path{};  ///< empty = none
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
PlanRequest plan_request_of(const PlanCommand& command, const job::Options& options,
                            const ProgramModels& programs = {});

/// The text of --help.
std::string plan_help(const job::Options& options);

}  // namespace hetsort::cli
