// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What the command line of `hetsort plan` and the files that it names ask for.
#pragma once

#include <string>

#include "job/plan/plan_request.h"

namespace hetsort::cli {

/// Which nodes each of the --jobs gets.
enum class QueuePolicy {
  kAll,       ///< all nodes: one job after the other
  kSpeedup,   ///< the fastest free ones, doubled as long as that makes it 1.2 times as fast
  kCritical,  ///< the fewest free ones that keep its records in memory
};

enum class PlanForm { kTable, kJson, kCsv };

/// The command line.
struct PlanCommand {
  job::PlanRequest request{};
  std::string program{};    ///< the file of an iterative program, or "sort"; empty = none
  std::string jobs_path{};  ///< several sorts; empty = one
  QueuePolicy policy = QueuePolicy::kAll;
  bool compare = false;
  PlanForm form = PlanForm::kTable;
  bool explain = false;  ///< also print what bounds each node, and the explanations
  bool hostfile = false;
  std::string plot_path{};  ///< empty = none
};
job::Options options_of(PlanCommand& command);

/// Checks and reads the files that the options name; the plan is then ready to be made. Throws: UsageError,
/// partition::PlanError, and io::Error for files that cannot be read.
job::PreparedPlan prepared_plan_of(const PlanCommand& command, const job::Options& options);

/// The text of --help.
std::string plan_help(const job::Options& options);

}  // namespace hetsort::cli
