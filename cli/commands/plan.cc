// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// hetsort plan: shares of records for unequal nodes.
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "cli/commands.h"
#include "cli/commands/plan_output.h"
#include "cli/commands/plan_request.h"

namespace hetsort::cli {
namespace {

std::string print_plan(const PlanRequest& request) {
  const partition::Plan plan = partition::make_plan(request.problem, request.strategy);
  if (request.plot_path) plot_plan(plan, request);
  switch (request.output) {
    case PlanOutput::kJson:
      return plan_json(plan);
    case PlanOutput::kHostfile:
      return plan_hostfile(plan);
    case PlanOutput::kTable:
      break;
  }
  return plan_table(plan, request);
}

std::string print_comparison(const PlanRequest& request) {
  const partition::Comparison comparison = partition::compare_strategies(request.problem);
  if (request.plot_path) plot_comparison(comparison, request);
  return request.output == PlanOutput::kJson ? comparison_json(comparison) : comparison_table(comparison, request);
}

}  // namespace

int plan_command(Arguments arguments) {
  const PlanRequest request = parse_plan_request(arguments);
  const std::string text = request.help      ? plan_help()
                           : request.compare ? print_comparison(request)
                                             : print_plan(request);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw std::system_error(errno, std::generic_category(), "write standard output");
  return 0;
}

}  // namespace hetsort::cli
