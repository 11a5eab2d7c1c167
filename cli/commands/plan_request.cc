// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/plan_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/shared/options.h"
#include "cli/shared/plan_input.h"
#include "cli/shared/spelling.h"
#include "partition/cluster.h"
#include "partition/critical.h"
#include "partition/learning.h"
#include "partition/scatter.h"

namespace hetsort::cli {
namespace {

namespace po = boost::program_options;
using partition::Cluster;
using partition::CostPtr;
using partition::Problem;

po::options_description plan_options() {
  const auto text = [] { return po::value<std::string>(); };
  po::options_description options;
  po::options_description_easy_init add = options.add_options();
  add("help,h", "this text");
  add("records,n", text()->value_name("NUM"), "number of records to share");
  add("speeds", text()->value_name("LIST"), "relative speeds, as in 1,2,4,8");
  add("cluster", text()->value_name("FILE"), "cluster file: costs, memory, root of every node");
  add("program", text()->value_name("FILE"), "the I/O-aware model of a program");
  add("strategy", text()->value_name("NAME"), "one of those below; lambert with --speeds, threshold with --cluster");
  add("compare", "plan with every strategy that applies");
  add("format", text()->value_name("FORM"), "table (default) or json");
  add("cost", text()->value_name("COST"),
      "work of n records where only speeds are known: nlogn (default), linear, power:E");
  add("order", text()->value_name("ORDER"), "sending order of a scatter: bandwidth (default) or given");
  add("root", text()->value_name("NAME"), "the node that holds the data of a scatter; auto tries all");
  add("record-size", text()->value_name("BYTES"), "bytes of a record, which turn memory into caps (100)");
  add("ignore-memory", "no caps from the nodes' memory");
  add("critical", "use only the smallest set of nodes that keeps the data in memory");
  add("learn", text()->value_name("FILE"), "measured curves (hetsort.curves/1), by which all plans are judged");
  add("plot", text()->value_name("FILE.svg"), "also draw shares and finish times with gnuplot");
  add("emit-hostfile", "print an Open MPI hostfile of the nodes that get records, not the plan");
  return options;
}

/// The command line's values with the questions the builder below asks of them.
class Options {
 public:
  explicit Options(const po::variables_map& values) : values_(values) {}
  bool has(const char* name) const { return values_.count(name) != 0; }
  std::string text(const char* name, const char* otherwise = "") const {
    return has(name) ? values_[name].as<std::string>() : otherwise;
  }
  /// Throws: UsageError unless the value is one of two words; true for the first.
  bool first_of(const char* name, const char* first, const char* second) const {
    const std::string value = text(name, first);
    if (value != first && value != second)
      throw UsageError(fmt::format("--{} '{}' is neither {} nor {}", name, value, first, second));
    return value == first;
  }

 private:
  const po::variables_map& values_;
};

void check_combinations(const Options& options) {
  if (options.has("operand")) throw UsageError("plan takes no operands; 'hetsort plan --help' explains it");
  if (options.has("program"))
    throw UsageError("--program: the I/O-aware model is not built yet; describe the nodes with --cluster");
  if (!options.has("records")) throw UsageError("plan needs -n NUM, the number of records to share");
  if (options.has("speeds") == options.has("cluster"))
    throw UsageError("plan needs one of --speeds LIST and --cluster FILE");
  if (options.has("compare") && options.has("strategy"))
    throw UsageError("--compare plans with all strategies; leave --strategy out");
  if (options.has("compare") && options.has("emit-hostfile"))
    throw UsageError("--emit-hostfile needs one plan; leave --compare out");
  for (const char* name : {"root", "order", "critical", "emit-hostfile", "record-size", "ignore-memory"})
    if (options.has(name) && options.has("speeds"))
      throw UsageError(fmt::format("--{} needs --cluster: speeds alone say nothing about it", name));
}

std::size_t find_node(const Problem& problem, const std::string& name) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < problem.nodes.size(); ++i) {
    if (problem.nodes[i].name == name) return i;
    names.push_back(problem.nodes[i].name);
  }
  const std::string near = nearest(name, names);
  throw UsageError(near.empty() ? fmt::format("--root '{}' is no node of the cluster", name)
                                : fmt::format("--root '{}' is no node of the cluster; did you mean '{}'?", name, near));
}

/// The strategy by which --root auto judges the candidates: the one asked for, else the quickest that applies.
partition::StrategyChoice root_judge(const PlanRequest& request, const Problem& problem) {
  if (!request.compare) return request.strategy;
  partition::StrategyChoice choice = partition::choose_strategy("scatter-closed");
  return choice.strategy->unsuitable(problem).empty() ? choice : partition::choose_strategy("scatter-exact");
}

/// Makes a scatter of the problem when the cluster has a root and receive costs, or when the user asks for one.
void settle_root(PlanRequest& request, const Options& options, std::optional<std::size_t> data_node) {
  using partition::SendingOrder;
  Problem& problem = request.problem;
  const bool asked = options.has("root") || options.has("order") ||
                     (!request.compare && request.strategy.strategy->kind == partition::Strategy::Kind::kScatter);
  const SendingOrder order =
      options.first_of("order", "bandwidth", "given") ? SendingOrder::kBandwidth : SendingOrder::kGiven;
  if (options.text("root") == "auto") {
    problem = partition::choose_root(problem, data_node, order, root_judge(request, problem));
    request.heading = fmt::format("root: {}", problem.nodes.back().name);
    return;
  }
  if (options.has("root")) data_node = find_node(problem, options.text("root"));
  if (!data_node && !asked) return;
  if (!data_node)
    throw UsageError(
        "a scatter needs its root: mark a node with 'root = true' in the cluster file, or give --root NAME");
  std::size_t receivers = 0;
  for (std::size_t i = 0; i < problem.nodes.size(); ++i) receivers += i != *data_node && problem.nodes[i].receive;
  if (asked || receivers + 1 == problem.nodes.size())
    problem = partition::arrange_scatter(std::move(problem), *data_node, order);
}

/// Keeps the critical set only; `root` follows its node.
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
  std::vector<partition::ProblemNode> nodes;
  std::optional<std::size_t> new_root;
  for (const std::size_t place : kept) {
    if (root == place) new_root = nodes.size();
    nodes.push_back(std::move(problem.nodes[place]));
  }
  root = new_root;
  problem.nodes = std::move(nodes);
}

/// Measured curves take the place of all other costs, so that every strategy is judged by what was seen.
void use_curves(PlanRequest& request, const Options& options) {
  const std::string path = options.text("learn");
  if (options.has("cost")) throw UsageError("--learn gives the costs; leave --cost out");
  const partition::CurveLearner learner(partition::load_curves(read_text_file(path), path));
  learner.apply(request.problem);
  for (partition::ProblemNode& node : request.problem.nodes) {
    if (!node.measured)
      throw UsageError(
          fmt::format("{}: no curve tells the cost of node '{}', and not all nodes have a speed", path, node.name));
    node.compute = node.measured;
  }
  request.problem.speed_shape = nullptr;
  request.unit = "s";
}

void load_cluster(PlanRequest& request, const Options& options) {
  const std::string path = options.text("cluster");
  const Cluster cluster = partition::parse_cluster(read_text_file(path), path);
  partition::ClusterUse use;
  use.shape = parse_cost_shape(options.text("cost", "nlogn"));
  use.record_bytes = parse_records(options.text("record-size", "100"), "--record-size");
  use.memory_caps = !options.has("ignore-memory");
  if (options.has("critical") && !use.memory_caps)
    throw UsageError("--critical and --ignore-memory exclude each other");
  request.problem = partition::problem_from_cluster(cluster, request.problem.records, use);
  const bool by_speed = request.problem.speed_shape != nullptr;
  if (!by_speed && options.has("cost"))
    throw UsageError(fmt::format("--cost is for nodes of which only a speed is known; {} gives compute costs", path));
  request.unit = by_speed ? "work units" : "s";
  if (options.has("learn")) use_curves(request, options);
  std::optional<std::size_t> root = cluster.root();
  if (options.has("critical")) keep_critical(request, root);
  settle_root(request, options, root);
}

}  // namespace

PlanRequest parse_plan_request(Arguments arguments) {
  const po::options_description visible = plan_options();
  const po::variables_map values = parse_options(arguments, visible);
  const Options options(values);
  PlanRequest request;
  request.help = options.has("help");
  if (request.help) return request;
  check_combinations(options);
  request.compare = options.has("compare");
  if (!options.first_of("format", "table", "json")) request.output = PlanOutput::kJson;
  if (options.has("emit-hostfile")) {
    if (options.has("format")) throw UsageError("--emit-hostfile prints a hostfile; leave --format out");
    request.output = PlanOutput::kHostfile;
  }
  if (options.has("plot")) request.plot_path = options.text("plot");
  const char* usual = options.has("speeds") ? "lambert" : "threshold";
  request.strategy = partition::choose_strategy(options.text("strategy", usual));
  request.problem.records = parse_records(options.text("records"), "-n");
  if (options.has("cluster")) {
    load_cluster(request, options);
    return request;
  }
  request.unit = "work units";
  request.problem = partition::problem_from_speeds(request.problem.records, parse_speeds(options.text("speeds")),
                                                   parse_cost_shape(options.text("cost", "nlogn")));
  if (options.has("learn")) use_curves(request, options);
  return request;
}

std::string plan_help() {
  std::string text =
      "usage: hetsort plan -n NUM (--speeds LIST | --cluster FILE) [OPTION...]\n\n"
      "Shares NUM records among unequal nodes so that all finish together, and prints each\n"
      "node's records and finish time, the makespan and a bound that no plan can beat.\n\n";
  const po::options_description options = plan_options();
  for (const auto& option : options.options()) {
    const std::string letter = option->canonical_display_name(po::command_line_style::allow_dash_for_short);
    const std::string names = letter.starts_with('-') ? fmt::format("{}, --{}", letter, option->long_name())
                                                      : fmt::format("--{}", option->long_name());
    text +=
        fmt::format("  {:<20}  {}\n", fmt::format("{} {}", names, option->format_parameter()), option->description());
  }
  text += "\nStrategies:\n";
  for (const partition::Strategy* strategy : partition::all_strategies()) {
    const std::string name = strategy->parameter.empty() ? std::string(strategy->name)
                                                         : fmt::format("{}:{}", strategy->name, strategy->parameter);
    text += fmt::format("  {:<20} {}\n", name, strategy->summary);
  }
  return text +
         "\nWith a root and receive costs in the cluster file every plan is judged as a scatter: nodes\n"
         "stand in sending order and their finish times include the waiting for the sender.\n\n"
         "  hetsort plan -n 1000000 --speeds 1,2,4,8\n"
         "  hetsort plan -n 817101 --cluster docs/examples/grid-2003.toml --compare\n\n"
         "Exit status: 0 planned, 2 the request cannot be met; the message says why.\n";
}

}  // namespace hetsort::cli
