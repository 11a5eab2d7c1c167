// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/plan/plan_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "cli/commands.h"
#include "cli/options/plan_input.h"
#include "cli/options/spelling.h"
#include "cli/options/typed_options.h"
#include "cli/shared/columns.h"
#include "cli/shared/named_files.h"
#include "partition/cluster.h"
#include "partition/critical.h"
#include "partition/learning.h"
#include "partition/run/problem_run.h"
#include "partition/scatter.h"
#include "partition/strategies/auto_strategy.h"

namespace hetsort::cli {
namespace {

namespace po = boost::program_options;
using partition::Cluster;
using partition::CostPtr;
using partition::Problem;

constexpr std::int64_t kRecordBytes = 100;
constexpr std::string_view kAuto = "auto";
constexpr std::string_view kSortProgram = "sort";  // value of --program for the built-in program

/// The place of a run's records before it.
enum class PlanInput { kShared, kEqual, kRoot };

/// Reads a strategy's name; none for auto, which is resolved later.
partition::StrategyChoice parse_strategy(const std::string& name) {
  return name == kAuto ? partition::StrategyChoice{.text = name} : partition::choose_strategy(name);
}

/// Whether the command line has the option.
bool has(const po::variables_map& values, const char* name) {
  return values.count(name) != 0 && !values[name].defaulted();
}

std::string parse_picture_path(const std::string& path) {
  if (!path.ends_with(".svg")) throw UsageError(fmt::format("--plot '{}': the file's name must end in .svg", path));
  return one_file("--plot", path);
}

void check_combinations(const po::variables_map& values) {
  const auto given = [&](const char* name) { return has(values, name); };
  if (given("policy")) throw UsageError("--policy is for --jobs");
  if (given("operand")) throw UsageError("plan takes no operands; 'hetsort plan --help' explains it");
  const bool program_file = given("program") && values["program"].as<std::string>() != kSortProgram;
  if (given("program") && !given("cluster")) throw UsageError("--program needs --cluster, the nodes that run it");
  for (const char* name : {"root", "order", "critical", "input", "cost", "learn", "record-size", "ignore-memory"})
    if (given(name) && program_file)
      throw UsageError(fmt::format("--{} is for sorts; leave it out with --program", name));
  if (!given("records") && !program_file) throw UsageError("plan needs -n NUM, the number of records to share");
  if (given("speeds") == given("cluster")) throw UsageError("plan needs one of --speeds LIST and --cluster FILE");
  if (given("compare") && given("strategy"))
    throw UsageError("--compare plans with all strategies; leave --strategy out");
  if (given("compare") && given("emit-hostfile"))
    throw UsageError("--emit-hostfile needs one plan; leave --compare out");
  if (given("emit-hostfile") && given("format"))
    throw UsageError("--emit-hostfile prints a hostfile; leave --format out");
  if (given("learn") && given("cost")) throw UsageError("--learn gives the costs; leave --cost out");
  if (given("critical") && given("ignore-memory"))
    throw UsageError("--critical and --ignore-memory exclude each other");
  if (given("input") && value_of<PlanInput>(values, "input") != PlanInput::kRoot && (given("root") || given("order")))
    throw UsageError("--root and --order are for input that a root sends; leave --input out");
  for (const char* name :
       {"root", "order", "critical", "emit-hostfile", "record-size", "ignore-memory", "no-sync", "input", "explain"})
    if (given(name) && given("speeds"))
      throw UsageError(fmt::format("--{} needs --cluster: speeds alone say nothing about it", name));
}

std::size_t find_node(const Problem& problem, const std::string& name) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < problem.nodes.size(); ++i) {
    const partition::ProblemNode& node = problem.nodes[i];
    if (node.name == name || node_label(node.name, node.number) == name) return i;
    names.push_back(problem.nodes[i].name);
  }
  const std::string near = nearest(name, names);
  throw UsageError(near.empty() ? fmt::format("--root '{}' is no node of the cluster", name)
                                : fmt::format("--root '{}' is no node of the cluster; did you mean '{}'?", name, near));
}

/// The strategy by which --root auto judges the candidates: the one asked for, else the quickest that applies.
partition::StrategyChoice root_judge(const std::optional<partition::StrategyChoice>& asked, const Problem& problem) {
  if (asked && asked->text != kAuto) return *asked;
  partition::StrategyChoice choice = partition::choose_strategy("scatter-closed");
  return choice.strategy->unsuitable(problem).empty() ? choice : partition::choose_strategy("scatter-exact");
}

/// Makes a scatter of the problem when the user asks for one, or when the cluster has a root and receive costs and does
/// not describe whole runs. As in a sort, files that all nodes see are the usual input of a whole run.
void resolve_root(PlanRequest& request, const po::variables_map& values, std::optional<std::size_t> data_node) {
  Problem& problem = request.problem;
  const auto input = optional_value<PlanInput>(values, "input");
  const bool asked = input == PlanInput::kRoot || has(values, "root") || has(values, "order") ||
                     (!request.compare && request.strategy.strategy->kind == partition::Strategy::Kind::kScatter);
  const auto order = value_of<partition::SendingOrder>(values, "order");
  const auto root = optional_value<std::string>(values, "root");
  if (root == "auto") {
    const bool links_known = problem.link_seconds != nullptr;
    problem = partition::choose_root(
        problem, data_node, order, root_judge(optional_value<partition::StrategyChoice>(values, "strategy"), problem));
    request.heading = fmt::format("root: {}", problem.nodes.back().name);
    if (!links_known)
      request.explanations.emplace_back(
          "root         the cluster file has no 'links': sending to a node is assumed to cost the same from each root");
    return;
  }
  if (root) data_node = find_node(problem, *root);
  if (!asked && data_node && !input && problem.run)
    request.explanations.push_back(
        fmt::format("root         {} sends nothing here; --input root plans for input that it sends",
                    problem.nodes[*data_node].name));
  if (!asked && (!data_node || input || problem.run)) return;
  if (!data_node)
    throw UsageError(
        "a scatter needs its root: mark a node with 'root = true' in the cluster file, or give --root NAME");
  std::size_t receivers = 0;
  for (std::size_t i = 0; i < problem.nodes.size(); ++i) receivers += i != *data_node && problem.nodes[i].receive;
  if (asked || problem.link_seconds || receivers + 1 == problem.nodes.size())
    problem = partition::arrange_scatter(std::move(problem), *data_node, order);
}

/// Keeps only the nodes of the critical set. `root` becomes the new place of its node.
void keep_critical(PlanRequest& request, std::optional<std::size_t>& root) {
  Problem& problem = request.problem;
  std::vector<std::int64_t> capacities;
  for (const partition::ProblemNode& node : problem.nodes) {
    if (node.max_records == partition::kNoCap)
      throw UsageError(fmt::format("--critical needs the memory of every node, and node '{}' has none", node.name));
    capacities.push_back(node.max_records);
  }
  const std::vector<std::size_t> kept = partition::critical_nodes(capacities, problem.records);
  if (kept.empty()) return;
  request.heading = fmt::format("critical number: {} of {} nodes keep {} records in memory", kept.size(),
                                problem.nodes.size(), problem.records);
  std::optional<std::size_t> new_root;
  for (std::size_t i = 0; i < kept.size(); ++i)
    if (root == kept[i]) new_root = i;
  root = new_root;
  partition::keep_nodes(problem, kept);
}

/// Measured curves take the place of all other costs, so that every strategy is judged by what was measured.
void use_curves(PlanRequest& request, const std::string& path) {
  const partition::CurveLearner learner(partition::load_curves(read_text_file(path), path));
  learner.apply(request.problem);
  for (partition::ProblemNode& node : request.problem.nodes) {
    if (!node.measured)
      throw UsageError(
          fmt::format("{}: no curve has the cost of node '{}', and not all nodes have a speed", path, node.name));
    node.compute = node.measured;
  }
  request.problem.speed_shape = nullptr;
  request.problem.run.reset();
  request.problem.run_missing = "learned curves describe one phase only";
}

/// Removes the cap of memory: what does not fit memory spills, and the model of a whole run knows what this costs.
void allow_spilling(Problem& problem) {
  if (!problem.run) return;
  const partition::DiskAndLinkRates& rates = problem.nodes.front().resources->rates;
  if (!rates.disk_read || !rates.disk_write) return;
  for (partition::ProblemNode& node : problem.nodes) node.max_records = partition::kNoCap;
}

/// Chooses the strategy of the request. Requires: a problem that is ready to plan.
void choose_strategy_for(PlanRequest& request) {
  std::optional<partition::AutoChoice> choice;
  if (request.problem.scatter) choice = partition::choose_for_scatter(request.problem);
  if (!choice) choice = partition::choose_for_shares(request.problem);
  request.strategy = choice->strategy;
  request.explanations.push_back(fmt::format("chosen       {}", choice->reason));
}

/// Gives each node files of its own, of the same size: the first nodes have one record more where the number does not
/// divide.
void give_equal_inputs(Problem& problem) {
  const auto count = static_cast<std::int64_t>(problem.nodes.size());
  for (std::int64_t i = 0; i < count; ++i)
    problem.nodes[static_cast<std::size_t>(i)].input_records =
        problem.records / count + (i < problem.records % count ? 1 : 0);
}

void load_cluster(PlanRequest& request, const po::variables_map& values) {
  const auto& path = value_of<std::string>(values, "cluster");
  const Cluster cluster = partition::parse_cluster(read_text_file(path), path);
  const partition::ClusterUse use{
      .shape = value_of<CostPtr>(values, "cost"),
      .record_bytes = value_of<std::int64_t>(values, "record-size"),
      .memory_caps = !value_of<bool>(values, "ignore-memory"),
      .synced = !value_of<bool>(values, "no-sync"),
      .records_in_memory = records_in_memory(value_of<std::int64_t>(values, "record-size"))};
  request.cluster_nodes = cluster.nodes;
  request.problem = partition::problem_from_cluster(cluster, request.problem.records, use);
  partition::add_run_model(request.problem, cluster, use);
  if (request.problem.speed_shape == nullptr && has(values, "cost"))
    throw UsageError(fmt::format("--cost is for nodes of which only a speed is known; {} gives compute costs", path));
  if (has(values, "learn")) use_curves(request, value_of<std::string>(values, "learn"));
  std::optional<std::size_t> root = cluster.root();
  if (value_of<bool>(values, "critical"))
    keep_critical(request, root);
  else
    allow_spilling(request.problem);
  if (optional_value<PlanInput>(values, "input") == PlanInput::kEqual) give_equal_inputs(request.problem);
  resolve_root(request, values, root);
}

/// Loads the program, whose rows are the records then.
void load_program(PlanRequest& request, const po::variables_map& values, const ProgramModels& programs) {
  const auto& cluster_path = value_of<std::string>(values, "cluster");
  const Cluster cluster = partition::parse_cluster(read_text_file(cluster_path), cluster_path);
  request.cluster_nodes = cluster.nodes;
  request.problem = programs.of_file(value_of<std::string>(values, "program"), cluster,
                                     optional_value<std::int64_t>(values, "records"));
}

void add_sort_program(PlanRequest& request, const ProgramModels& programs) {
  Problem& problem = request.problem;
  if (problem.scatter) throw UsageError("--program sort: a root sends the input; the program has no root");
  if (!problem.run)
    throw UsageError(fmt::format("--program sort: the cluster file does not describe whole runs: {}",
                                 problem.run_missing.empty() ? "no costs" : problem.run_missing));
  problem.program = programs.of_sort(partition::run_model_of(problem), problem.records);
}

NamedFiles files_of(const po::variables_map& values) {
  NamedFiles files;
  files.write("standard output", "-");
  files.write("--plot", optional_value<std::string>(values, "plot").value_or(""));
  files.read("--cluster", optional_value<std::string>(values, "cluster").value_or(""));
  const auto program = optional_value<std::string>(values, "program").value_or("");
  files.read("--program", program == kSortProgram ? "" : program);
  files.read("--learn", optional_value<std::string>(values, "learn").value_or(""));
  return files;
}

}  // namespace

po::options_description plan_options() {
  const auto bytes = [](const std::string& text) {
    return static_cast<std::int64_t>(parse_count(text, "--record-size"));
  };
  po::options_description options("Options");
  auto add = options.add_options();
  add("records,n", parsed<std::int64_t>("NUM", [](const std::string& text) { return parse_records(text, "-n"); }),
      "number of records to share, as in 1000000, 1e6 or 1M");
  add("speeds", parsed<std::vector<double>>("LIST", parse_speeds), "relative speeds, as in 1,2,4,8");
  add("cluster", path_of_one_file("FILE", "--cluster"), "cluster file: costs, memory, root of every node");
  add("program", path_of_one_file("FILE", "--program"),
      "an iterative program whose rows are shared, or sort: predict the seconds of each node");
  add("jobs", path_of_one_file("FILE", "--jobs"),
      "several sorts that share the nodes: where and when each of them runs");
  add("policy",
      choice<QueuePolicy>(
          "POLICY", "--policy",
          {{"all", QueuePolicy::kAll}, {"speedup", QueuePolicy::kSpeedup}, {"critical", QueuePolicy::kCritical}})
          ->default_value(QueuePolicy::kCritical, "critical"),
      "nodes of each of the --jobs: all, as many as speed it up, or the fewest that keep its records in memory");
  add("strategy", parsed<partition::StrategyChoice>("NAME", parse_strategy),
      "auto or one of those below (lambert with --speeds; with --cluster as for auto where a root sends or the file "
      "describes whole runs, else threshold)");
  add("compare", po::bool_switch(), "plan with every strategy that applies");
  add("format", choice<bool>("FORM", "--format", {{"table", false}, {"json", true}})->default_value(false, "table"),
      "table or json");
  add("input",
      choice<PlanInput>("FORM", "--input",
                        {{"shared", PlanInput::kShared}, {"equal", PlanInput::kEqual}, {"root", PlanInput::kRoot}}),
      "shared: the nodes divide it as planned; equal: each node has a file, all of one size; root: the root sends it "
      "(root if the cluster file has one and does not describe whole runs, else shared)");
  add("explain", po::bool_switch(), "say what bounds each node in each phase of a whole run");
  add("cost", parsed<CostPtr>("COST", parse_cost_shape)->default_value(partition::nlogn_cost(), "nlogn"),
      "work of n records where only speeds are known: nlogn, linear, power:E");
  add("order",
      choice<partition::SendingOrder>(
          "ORDER", "--order",
          {{"bandwidth", partition::SendingOrder::kBandwidth}, {"given", partition::SendingOrder::kGiven}})
          ->default_value(partition::SendingOrder::kBandwidth, "bandwidth"),
      "sending order of a scatter: bandwidth or given");
  add("root", text("NAME"), "the node that holds the data of a scatter; auto tries all");
  add("record-size", parsed<std::int64_t>("BYTES", bytes)->default_value(kRecordBytes, "100"),
      "bytes of a record, which turn memory into caps");
  add("ignore-memory", po::bool_switch(), "no caps from the nodes' memory");
  add("no-sync", po::bool_switch(), "a whole run does not wait until its output is on the disk");
  add("critical", po::bool_switch(), "use only the smallest set of nodes that keeps the data in memory");
  add("learn", path_of_one_file("FILE", "--learn"),
      "measured curves (hetsort.curves/1), by which all plans are judged");
  add("plot", parsed<std::string>("FILE.svg", parse_picture_path), "also draw shares and finish times");
  add("emit-hostfile", po::bool_switch(), "print an Open MPI hostfile of the nodes that get records, not the plan");
  add("help,h", po::bool_switch(), "this text");
  return options;
}

PlanRequest plan_request_of(const po::variables_map& values, const ProgramModels& programs) {
  check_combinations(values);
  files_of(values).check(comm::Communicator());
  PlanRequest request;
  request.compare = value_of<bool>(values, "compare");
  if (value_of<bool>(values, "format")) request.output = PlanOutput::kJson;
  if (value_of<bool>(values, "emit-hostfile")) request.output = PlanOutput::kHostfile;
  request.explain = value_of<bool>(values, "explain");
  request.plot_path = optional_value<std::string>(values, "plot");
  const auto strategy = optional_value<partition::StrategyChoice>(values, "strategy");
  const bool automatic = strategy && strategy->text == kAuto;
  request.strategy =
      strategy && !automatic ? *strategy : partition::choose_strategy(has(values, "speeds") ? "lambert" : "threshold");
  request.problem.records = optional_value<std::int64_t>(values, "records").value_or(0);
  const auto program = optional_value<std::string>(values, "program");
  if (program && *program != kSortProgram) {
    load_program(request, values, programs);
    if (automatic) choose_strategy_for(request);
    return request;
  }
  if (has(values, "cluster")) {
    load_cluster(request, values);
    if (program) add_sort_program(request, programs);
    if (automatic || (!strategy && (request.problem.run || request.problem.scatter))) choose_strategy_for(request);
    return request;
  }
  request.problem = partition::problem_from_speeds(
      request.problem.records, value_of<std::vector<double>>(values, "speeds"), value_of<CostPtr>(values, "cost"));
  if (has(values, "learn")) use_curves(request, value_of<std::string>(values, "learn"));
  return request;
}

std::string plan_help() {
  std::string text = help_text(
      "usage: hetsort plan -n NUM (--speeds LIST | --cluster FILE) [OPTION...]\n"
      "       hetsort plan --program FILE --cluster FILE [OPTION...]\n"
      "       hetsort plan --jobs FILE --cluster FILE [--policy POLICY] [OPTION...]\n\n"
      "Shares NUM records among unequal nodes so that all finish together, and prints each\n"
      "node's records and finish time, the makespan and a bound that no plan can beat.\n\n",
      plan_options());
  text += "\nStrategies:\n";
  for (const partition::Strategy* strategy : partition::all_strategies()) {
    const char* form = strategy->parameter.empty() ? "{}" : strategy->usual_parameter ? "{}[:{}]" : "{}:{}";
    const std::string name = fmt::format(fmt::runtime(form), strategy->name, strategy->parameter);
    text += fmt::format("  {:<20} {}\n", name, strategy->summary);
  }
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
