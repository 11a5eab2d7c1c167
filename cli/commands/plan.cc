// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// hetsort plan: shares of records for unequal nodes.
#include <optional>

#include "cli/commands.h"
#include "cli/options/command_line.h"
#include "cli/plan/plan_output.h"
#include "cli/plan/plan_request.h"
#include "cli/process/outcome.h"
#include "cli/research/plan_jobs.h"
#include "cli/terminal/messages.h"
#include "io/publish.h"
#include "job/plan/plan_json.h"
#include "job/report/run_report.h"

namespace hetsort::cli {
namespace {

/// The text of the plan. `picture`: where --plot goes.
std::string plan_text(const PlanCommand& command, const job::PreparedPlan& prepared,
                      std::optional<io::OutputFile>& picture) {
  const partition::Plan plan = job::plan_of(prepared);
  if (picture) job::write_text(*picture, plan_picture(plan));
  if (command.hostfile) return plan_hostfile(plan);
  if (command.form == PlanForm::kCsv) return plans_csv({{{.plan = plan}}, {}});
  return command.form == PlanForm::kJson ? job::plan_json(plan, prepared.cluster_nodes)
                                         : plan_table(plan, prepared, command.explain);
}

std::string comparison_text(const PlanCommand& command, const job::PreparedPlan& prepared,
                            std::optional<io::OutputFile>& picture) {
  const partition::Comparison comparison = partition::compare_strategies(prepared.problem);
  if (picture) job::write_text(*picture, comparison_picture(comparison, prepared.problem));
  if (command.form == PlanForm::kCsv) return plans_csv(comparison);
  return command.form == PlanForm::kJson ? job::comparison_json(comparison) : comparison_table(comparison, prepared);
}

/// Runs `plan --jobs`.
int plan_jobs(const PlanCommand& command, const job::Options& options) {
  const JobsRequest request = jobs_request_of(command, options);
  std::optional<io::OutputFile> picture;
  if (!command.plot_path.empty()) picture.emplace(command.plot_path);
  const std::vector<research::ScheduledJob> schedule = schedule_sorts(request);
  if (picture) job::write_text(*picture, jobs_picture(request, schedule));
  if (command.hostfile)
    write_output(jobs_hostfiles(request, schedule));
  else
    write_output(command.form == PlanForm::kJson ? jobs_json(request, schedule) : jobs_table(request, schedule));
  return 0;
}

int plan_one(const PlanCommand& command, const job::Options& options) {
  const job::PreparedPlan prepared = prepared_plan_of(command, options);
  if (!prepared.note.empty()) print_note(prepared.note);
  std::optional<io::OutputFile> picture;
  if (!command.plot_path.empty()) picture.emplace(command.plot_path);
  write_output(command.compare ? comparison_text(command, prepared, picture) : plan_text(command, prepared, picture));
  return 0;
}

}  // namespace

int plan_command(Arguments arguments) {
  PlanCommand command;
  job::Options options = options_of(command);
  const CommandLine line = parse_command_line("plan", arguments, options);
  if (line.help) return print_once(line.shared, plan_help(options));
  return run_once(line.shared, [&] {
    if (!line.operands.empty()) throw UsageError("plan takes no operands; 'hetsort plan --help' explains it");
    return command.jobs_path.empty() ? plan_one(command, options) : plan_jobs(command, options);
  });
}

}  // namespace hetsort::cli
