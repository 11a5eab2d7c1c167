// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/plan/plan_request.h"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "bench/research/mheta/program_problem.h"
#include "bench/research/mheta/program_text.h"
#include "bench/research/mheta/sort_program.h"
#include "cli/commands.h"
#include "cli/options/command_line.h"
#include "io/field.h"
#include "job/options/parse.h"
#include "job/request/named_files.h"
#include "job/shares/plan_input.h"
#include "partition/cluster.h"

namespace hetsort::cli {
namespace {

using partition::Problem;

constexpr std::string_view kSortProgram = "sort";  // value of --program for the built-in program

bool has_program_file(const PlanCommand& command) {
  return !command.program.empty() && command.program != kSortProgram;
}

std::string parse_picture_path(const std::string& path, const std::string& what) {
  if (!path.ends_with(".svg")) throw UsageError(fmt::format("{} '{}': the file's name must end in .svg", what, path));
  return job::one_file(what, path);
}

/// Throws: UsageError.
void check_combinations(const PlanCommand& command, const job::Options& options) {
  const auto given = [&](const char* name) { return options.is_given(name); };
  if (given("policy")) throw UsageError("--policy is for --jobs");
  if (given("program") && !given("cluster")) throw UsageError("--program needs --cluster, the nodes that run it");
  for (const char* const name :
       {"root", "order", "critical", "input", "cost", "learn", "record-size", "ignore-memory", "within"})
    if (given(name) && has_program_file(command))
      throw UsageError(fmt::format("--{} is for sorts; leave it out with --program", name));
  if (!has_program_file(command)) job::check_plan(options, command.request);
  for (const char* const name : {"emit-hostfile", "explain"})
    if (given(name) && given("speeds"))
      throw UsageError(fmt::format("--{} needs --cluster: speeds alone say nothing about it", name));
}

/// Loads the program, whose rows are the records then.
void load_program(job::PreparedPlan& plan, const PlanCommand& command) {
  const std::string& cluster_path = command.request.shares.cluster_path;
  const partition::Cluster cluster = partition::parse_cluster(job::read_text_file(cluster_path), cluster_path);
  plan.cluster_nodes = cluster.nodes;
  research::Program program = research::parse_program(job::read_text_file(command.program), command.program);
  if (command.request.records) program.rows = *command.request.records;
  const auto model =
      std::make_shared<const research::ProgramModel>(research::program_model(std::move(program), cluster));
  plan.problem = research::problem_of_program(model, model->program().rows);
}

void add_sort_program(Problem& problem) {
  if (problem.scatter) throw UsageError("--program sort: a root sends the input; the program has no root");
  if (!problem.run)
    throw UsageError(fmt::format("--program sort: the cluster file does not describe whole runs: {}",
                                 problem.run_missing.empty() ? "no costs" : problem.run_missing));
  problem.program = std::make_shared<const research::ProgramOnNodes>(std::make_shared<const research::ProgramModel>(
      research::sort_program(partition::run_model_of(problem), problem.records)));
}

job::NamedFiles files_of(const PlanCommand& command) {
  job::NamedFiles files;
  files.write("standard output", "-");
  files.write("--plot", command.plot_path);
  files.read("--cluster", command.request.shares.cluster_path);
  files.read("--program", has_program_file(command) ? command.program : "");
  files.read("--learn", command.request.shares.learn_path);
  for (const std::string& input : command.request.input_files) files.read("--input", input);
  return files;
}

}  // namespace

job::Options options_of(PlanCommand& command) {
  job::Options options;
  job::add_plan_options(options, command.request,
                        "auto or one of those below (lambert with --speeds; with --cluster as for auto where a root "
                        "sends or the file describes whole runs, else threshold)");
  options.add({.name = "program",
               .value = "FILE",
               .help = "an iterative program whose rows are shared, or sort: predict the seconds of each node",
               .fill = job::take_path(command.program)});
  options.add({.name = "jobs",
               .value = "FILE",
               .help = "several sorts that share the nodes: where and when each of them runs",
               .fill = job::take_path(command.jobs_path)});
  options.add(job::choice(
      {.name = "policy",
       .value = "POLICY",
       .usual = "all",
       .help = "nodes of each of the --jobs: all, as many as speed it up, or the fewest that keep "
               "its records in memory"},
      command.policy,
      std::vector<std::pair<std::string, QueuePolicy>>{
          {"all", QueuePolicy::kAll}, {"speedup", QueuePolicy::kSpeedup}, {"critical", QueuePolicy::kCritical}}));
  options.add({.name = "compare",
               .help = "plan with every strategy that applies",
               .excludes = {{"strategy", "plans with all strategies"}},
               .fill = job::turn_on(command.compare)});
  options.add(job::choice({.name = "format", .value = "FORM", .usual = "table", .help = "table, json or csv"},
                          command.form,
                          std::vector<std::pair<std::string, PlanForm>>{
                              {"table", PlanForm::kTable}, {"json", PlanForm::kJson}, {"csv", PlanForm::kCsv}}));
  options.add({.name = "explain",
               .help = "say what bounds each node in each phase of a whole run",
               .fill = job::turn_on(command.explain)});
  options.add({.name = "plot",
               .value = "FILE.svg",
               .help = "also draw shares and finish times",
               .fill = job::take(command.plot_path, parse_picture_path)});
  options.add({.name = "emit-hostfile",
               .help = "print an Open MPI hostfile of the nodes that get records, not the plan",
               .excludes = {{"compare", "needs one plan"}, {"format", "prints a hostfile"}},
               .fill = job::turn_on(command.hostfile)});
  options.add(help_option());
  return options;
}

job::Options plan_options() {
  static PlanCommand unused;
  return options_of(unused);
}

job::PreparedPlan prepared_plan_of(const PlanCommand& command, const job::Options& options) {
  check_combinations(command, options);
  files_of(command).check(comm::Communicator());
  if (!has_program_file(command)) {
    job::PreparedPlan plan = job::prepare_plan(command.request);
    if (!command.program.empty()) add_sort_program(plan.problem);
    return plan;
  }
  job::PreparedPlan plan;
  load_program(plan, command);
  job::choose_strategy_of(plan, command.request);
  return plan;
}

std::string plan_help(const job::Options& options) {
  std::string text = help_text(
      "usage: hetsort plan -n NUM (--speeds LIST | --cluster FILE) [OPTION...]\n"
      "       hetsort plan --input FILE... --cluster FILE [OPTION...]\n"
      "       hetsort plan --within SECONDS --cluster FILE [OPTION...]\n"
      "       hetsort plan --program FILE --cluster FILE [OPTION...]\n"
      "       hetsort plan --jobs FILE --cluster FILE [--policy POLICY] [OPTION...]\n\n"
      "Shares NUM records among unequal nodes so that all finish together, and prints each\n"
      "node's records and finish time, the makespan and a bound that no plan can beat.\n\n",
      options);
  text += "\nStrategies:\n";
  for (const partition::Strategy* strategy : partition::all_strategies()) {
    const char* form = strategy->parameter.empty() ? "{}" : strategy->usual_parameter ? "{}[:{}]" : "{}:{}";
    const std::string name = fmt::format(fmt::runtime(form), strategy->name, strategy->parameter);
    text += fmt::format("  {:<20} {}\n", name, strategy->summary);
  }
  text += fmt::format("  {:<20} {}\n", "exec:COMMAND",
                      "a program of yours, which reads the problem as JSON and prints shares");
  return text +
         "\nWhere a root sends (--input root, --root, or a root and receive costs in a cluster file that does\n"
         "not describe whole runs) every plan is judged as a scatter: nodes stand in sending order and\n"
         "their finish times include the waiting for the sender.\n\n"
         "  hetsort plan -n 1000000 --speeds 1,2,4,8\n"
         "  hetsort plan -n 817101 --cluster docs/examples/grid-2003.toml --compare\n"
         "  hetsort plan --program docs/examples/program-jacobi.toml --cluster docs/examples/mheta-hy1.toml\n\n"
         "Exit status: 0 planned, 2 the request cannot be met; the message says why.\n";
}

}  // namespace hetsort::cli
