// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What the user of `hetsort plan` asked for, from the command line and the files it names.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/commands.h"
#include "partition/plan.h"

namespace hetsort::cli {

enum class PlanOutput { kTable, kJson, kHostfile };

struct PlanRequest {
  bool help = false;
  partition::Problem problem;          ///< ready to plan: caps, critical set, sending order and root are settled
  partition::StrategyChoice strategy;  ///< not used when comparing
  bool compare = false;
  PlanOutput output = PlanOutput::kTable;
  std::string_view unit;  ///< of makespan and finish: "s" or "work units"
  std::string heading;    ///< a line to print first, such as the critical number; or empty
  std::optional<std::string> plot_path;
};

/// Throws: UsageError, partition::PlanError, and std::system_error for files that cannot be read.
PlanRequest parse_plan_request(Arguments arguments);

/// The text of --help.
std::string plan_help();

}  // namespace hetsort::cli
