// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What the command line of `hetsort plan` and the files that it names ask for.
#pragma once

#include <boost/program_options.hpp>
#include <optional>
#include <string>
#include <vector>

#include "partition/plan.h"

namespace hetsort::cli {

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
};

/// Checks and reads the files that the options name. Throws: UsageError, partition::PlanError, and io::Error
/// for files that cannot be read.
PlanRequest plan_request_of(const boost::program_options::variables_map& values);

/// The text of --help.
std::string plan_help();

}  // namespace hetsort::cli
