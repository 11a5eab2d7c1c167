// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// hetsort plan: shares of records for unequal nodes.
#include <optional>

#include "cli/commands.h"
#include "cli/options/typed_options.h"
#include "cli/plan/plan_output.h"
#include "cli/plan/plan_request.h"
#include "cli/research/plan_jobs.h"
#include "cli/research/program_models.h"
#include "cli/shared/job.h"
#include "cli/shared/messages.h"
#include "cli/shared/run_report.h"
#include "io/publish.h"

namespace hetsort::cli {
namespace {

/// Prints the plan. `picture`: where --plot goes.
std::string print_plan(const PlanRequest& request, std::optional<io::OutputFile>& picture) {
  const partition::Plan plan = partition::make_plan(request.problem, request.strategy);
  if (picture) write_text(*picture, plan_picture(plan));
  switch (request.output) {
    case PlanOutput::kJson:
      return plan_json(plan, request);
    case PlanOutput::kHostfile:
      return plan_hostfile(plan);
    case PlanOutput::kTable:
      break;
  }
  return plan_table(plan, request);
}

std::string print_comparison(const PlanRequest& request, std::optional<io::OutputFile>& picture) {
  const partition::Comparison comparison = partition::compare_strategies(request.problem);
  if (picture) write_text(*picture, comparison_picture(comparison, request));
  return request.output == PlanOutput::kJson ? comparison_json(comparison) : comparison_table(comparison, request);
}

/// Runs `plan --jobs`.
int plan_jobs(const boost::program_options::variables_map& values) {
  const JobsRequest request = jobs_request_of(values);
  std::optional<io::OutputFile> picture;
  if (const auto path = optional_value<std::string>(values, "plot")) picture.emplace(*path);
  const std::vector<research::ScheduledJob> schedule = schedule_sorts(request);
  if (picture) write_text(*picture, jobs_picture(request, schedule));
  if (value_of<bool>(values, "emit-hostfile"))
    write_output(jobs_hostfiles(request, schedule));
  else
    write_output(value_of<bool>(values, "format") ? jobs_json(request, schedule) : jobs_table(request, schedule));
  return 0;
}

}  // namespace

int plan_command(Arguments arguments) {
  const CommandLine line = parse_options("plan", arguments, plan_options());
  if (value_of<bool>(line.values, "help")) return print_once(line.shared, plan_help());
  return run_once(line.shared, [&] {
    if (line.values.count("jobs") != 0) return plan_jobs(line.values);
    const PlanRequest request = plan_request_of(line.values, program_models());
    std::optional<io::OutputFile> picture;
    if (request.plot_path) picture.emplace(*request.plot_path);
    write_output(request.compare ? print_comparison(request, picture) : print_plan(request, picture));
    return 0;
  });
}

}  // namespace hetsort::cli
