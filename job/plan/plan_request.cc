// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "job/plan/plan_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "io/field.h"
#include "io/file.h"
#include "job/options/parse.h"
#include "job/options/spelling.h"
#include "job/plan/plan_json.h"
#include "job/request/request_error.h"
#include "job/shares/measured_records.h"
#include "job/shares/outside_strategy.h"
#include "job/shares/plan_input.h"
#include "job/shares/rank_planner.h"
#include "job/shares/strategy_choice.h"
#include "partition/cluster.h"
#include "partition/critical.h"
#include "partition/error.h"
#include "partition/learning.h"
#include "partition/scatter.h"
#include "sort/input/rank_path.h"

namespace hetsort::job {

namespace {

using partition::Problem;

bool is_scatter(const std::string& strategy) {
  return !strategy.empty() && strategy != kAuto && !is_outside(strategy) &&
         partition::choose_strategy(strategy).strategy->kind == partition::Strategy::Kind::kScatter;
}

std::size_t find_node(const Problem& problem, const std::string& name) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < problem.nodes.size(); ++i) {
    const partition::ProblemNode& node = problem.nodes[i];
    if (node.name == name || node_label(node.name, node.number) == name) return i;
    names.push_back(problem.nodes[i].name);
  }
  const std::string near = job::nearest(name, names);
  throw RequestError(fmt::format("{} '{}' is no node of the cluster{}", io::field("root"), name,
                                 near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
}

/// The strategy by which candidates for the root are judged: the one asked for, else the quickest that applies.
partition::StrategyChoice root_judge(const std::string& asked, const Problem& problem) {
  if (!asked.empty() && asked != kAuto && !is_outside(asked)) return partition::choose_strategy(asked);
  partition::StrategyChoice choice = partition::choose_strategy("scatter-closed");
  return choice.strategy->unsuitable(problem).empty() ? choice : partition::choose_strategy("scatter-exact");
}

/// Makes a scatter of the problem when the user asks for one, or when the cluster has a root and receive costs and does
/// not describe whole runs. As in a sort, files that all nodes see are the usual input of a whole run.
void resolve_root(PreparedPlan& plan, const PlanRequest& request, std::optional<std::size_t> data_node) {
  Problem& problem = plan.problem;
  const bool asked = request.input == PlanInput::kRoot || !request.root.empty() || request.order ||
                     is_scatter(request.shares.strategy);
  const partition::SendingOrder order = request.order.value_or(partition::SendingOrder::kBandwidth);
  if (request.root == kAuto) {
    const bool links_known = problem.link_seconds != nullptr;
    problem = partition::choose_root(problem, data_node, order, root_judge(request.shares.strategy, problem));
    plan.heading = fmt::format("root: {}", problem.nodes.back().name);
    if (!links_known)
      plan.explanations.emplace_back(
          "root         the cluster file has no 'links': sending to a node is assumed to cost the same from each root");
    return;
  }
  if (!request.root.empty()) data_node = find_node(problem, request.root);
  if (!asked && data_node && !request.input && problem.run)
    plan.explanations.push_back(fmt::format("root         {} sends nothing here; {} root plans for input that it sends",
                                            problem.nodes[*data_node].name, io::field("input")));
  if (!asked && (!data_node || request.input || problem.run)) return;
  if (!data_node)
    throw RequestError(
        fmt::format("a scatter needs its root: mark a node with 'root = true' in the cluster file, or give {} NAME",
                    io::field("root")));
  std::size_t receivers = 0;
  for (std::size_t i = 0; i < problem.nodes.size(); ++i) receivers += i != *data_node && problem.nodes[i].receive;
  if (asked || problem.link_seconds || receivers + 1 == problem.nodes.size())
    problem = partition::arrange_scatter(std::move(problem), *data_node, order);
}

/// Keeps the critical set only; `root` follows its node.
void keep_critical(PreparedPlan& plan, std::optional<std::size_t>& root) {
  Problem& problem = plan.problem;
  std::vector<std::int64_t> capacities;
  for (const partition::ProblemNode& node : problem.nodes) {
    if (node.max_records == partition::kNoCap)
      throw RequestError(
          fmt::format("{} needs the memory of every node, and node '{}' has none", io::field("critical"), node.name));
    capacities.push_back(node.max_records);
  }
  const std::vector<std::size_t> kept = partition::critical_nodes(capacities, problem.records);
  if (kept.empty()) return;
  plan.heading = fmt::format("critical number: {} of {} nodes keep {} records in memory", kept.size(),
                             problem.nodes.size(), problem.records);
  std::optional<std::size_t> new_root;
  for (std::size_t i = 0; i < kept.size(); ++i)
    if (root == kept[i]) new_root = i;
  root = new_root;
  partition::keep_nodes(problem, kept);
}

/// Measured curves take the place of all other costs, so that every strategy is judged by what was measured.
void use_curves(Problem& problem, const std::string& path) {
  const partition::CurveLearner learner(partition::load_curves(read_text_file(path), path));
  learner.apply(problem);
  for (partition::ProblemNode& node : problem.nodes) {
    if (!node.measured)
      throw RequestError(
          fmt::format("{}: no curve has the cost of node '{}', and not all nodes have a speed", path, node.name));
    node.compute = node.measured;
  }
  problem.speed_shape = nullptr;
  problem.run.reset();
  problem.run_missing = "learned curves describe one phase only";
}

/// What does not fit memory spills, and the model of a whole run knows what this costs: memory is no limit then.
void allow_spilling(Problem& problem) {
  if (!problem.run) return;
  const partition::DiskAndLinkRates& rates = problem.nodes.front().resources->rates;
  if (!rates.disk_read || !rates.disk_write) return;
  for (partition::ProblemNode& node : problem.nodes) node.max_records = partition::kNoCap;
}

/// Files of each node, of the same size: the first nodes have one record more where the number does not divide.
void give_equal_inputs(Problem& problem) {
  const auto count = static_cast<std::int64_t>(problem.nodes.size());
  for (std::int64_t i = 0; i < count; ++i)
    problem.nodes[static_cast<std::size_t>(i)].input_records =
        problem.records / count + (i < problem.records % count ? 1 : 0);
}

/// The records in a file. Throws: RequestError, io::Error.
std::int64_t records_in_file(const std::string& path, std::uint64_t record_bytes) {
  if (io::kind_at(path).value_or(io::FileKind::kRegular) != io::FileKind::kRegular)
    throw RequestError(
        fmt::format("{} {}: is no regular file, whose size says how many records it has", io::field("input"), path));
  const std::uint64_t bytes = io::File::open_read(path).status().size_bytes;
  if (bytes % record_bytes != 0)
    throw RequestError(fmt::format("{} {}: {} bytes are no whole number of records of {} bytes ({})",
                                   io::field("input"), path, bytes, record_bytes, io::field("record_size")));
  return static_cast<std::int64_t>(bytes / record_bytes);
}

/// The records that each of so many nodes has in the files that the request names. Throws: RequestError, io::Error.
std::vector<std::int64_t> records_of_nodes(const PlanRequest& request, std::size_t nodes) {
  const std::vector<std::string>& files = request.input_files;
  std::vector<std::int64_t> records(nodes);
  const auto of_ranks = static_cast<std::size_t>(std::ranges::count_if(files, sort::is_rank_path));
  if (of_ranks != files.size() && (of_ranks > 0 || files.size() != nodes))
    throw RequestError(fmt::format("{} names {} file{} for {} node{}: name one for each node, or use {} in the names",
                                   io::field("input"), files.size(), files.size() == 1 ? "" : "s", nodes,
                                   nodes == 1 ? "" : "s", sort::kRankPlace));
  for (std::size_t node = 0; node < nodes; ++node)
    for (const std::string& file : of_ranks > 0 ? files : std::vector{files[node]})
      records[node] += records_in_file(sort::path_of_rank(file, static_cast<int>(node)), request.record_bytes);
  return records;
}

void load_cluster(PreparedPlan& plan, const PlanRequest& request) {
  const std::string& path = request.shares.cluster_path;
  const partition::Cluster cluster = partition::parse_cluster(read_text_file(path), path);
  plan.cluster_nodes = cluster.nodes;
  plan.note = note_on_records(cluster, request.record_bytes);
  std::vector<std::int64_t> own;
  if (request.input == PlanInput::kFiles) {
    own = records_of_nodes(request, cluster.nodes.size());
    plan.problem.records = std::reduce(own.begin(), own.end());
  }
  const auto record_bytes = static_cast<std::int64_t>(request.record_bytes);
  const partition::ClusterUse use{.shape = cost_of(request),
                                  .record_bytes = record_bytes,
                                  .memory_caps = !request.ignore_memory,
                                  .synced = request.sync,
                                  .records_in_memory = records_in_memory(record_bytes)};
  plan.problem = partition::problem_from_cluster(cluster, plan.problem.records, use);
  partition::add_run_model(plan.problem, cluster, use);
  if (plan.problem.speed_shape == nullptr && request.cost)
    throw RequestError(
        fmt::format("{} is for nodes of which only a speed is known; {} gives compute costs", io::field("cost"), path));
  if (!request.shares.learn_path.empty()) use_curves(plan.problem, request.shares.learn_path);
  std::optional<std::size_t> root = cluster.root();
  if (request.critical)
    keep_critical(plan, root);
  else
    allow_spilling(plan.problem);
  if (request.input == PlanInput::kEqual) give_equal_inputs(plan.problem);
  for (std::size_t i = 0; i < own.size(); ++i) plan.problem.nodes[i].input_records = own[i];
  resolve_root(plan, request, root);
}

void check_combinations(const Options& options, const PlanRequest& request) {
  const auto given = [&](const char* name) { return options.is_given(name); };
  const bool files = !request.input_files.empty();
  if (files && request.input != PlanInput::kFiles)
    throw RequestError(fmt::format("{} wants a form or files, not both", io::field("input")));
  for (const char* const name : {"records", "within", "critical"})
    if (files && given(name))
      throw RequestError(fmt::format("{} FILE says how many records each node has: it excludes {}", io::field("input"),
                                     io::field(name)));
  if (!given("records") && !given("within") && !files)
    throw RequestError(fmt::format("plan needs {} NUM, the number of records to share, or {} SECONDS",
                                   io::field("records"), io::field("within")));
  if (given("speeds") == given("cluster"))
    throw RequestError(fmt::format("plan needs one of {} LIST and {} FILE", io::field("speeds"), io::field("cluster")));
  for (const char* const name : {"root", "order", "critical", "record-size", "ignore-memory", "no-sync", "input"})
    if (given(name) && given("speeds"))
      throw RequestError(fmt::format("{} needs {}: speeds alone say nothing about it", word_for(*options.find(name)),
                                     io::field("cluster")));
}

constexpr double kMaxWithinSeconds = 1e9;

/// --input: one of three words, or files.
Option input_option(PlanRequest& request) {
  Option input =
      choice({.name = "input",
              .value = "FORM|FILE",
              .help = "shared: the nodes divide it as planned; equal: each node has a file, all of one size; "
                      "root: the root sends it (root if the cluster file has one and does not describe whole "
                      "runs, else shared); or the FILEs of the nodes, one for each or with {rank} in the "
                      "name, whose sizes replace NUM",
              .repeatable = true},
             request.input,
             std::vector<std::pair<std::string, PlanInput>>{
                 {"shared", PlanInput::kShared}, {"equal", PlanInput::kEqual}, {"root", PlanInput::kRoot}});
  input.fill = [fill_form = input.fill, words = input.words, &request](const std::string& text,
                                                                       const std::string& what) {
    if (std::ranges::find(words, text) != words.end()) return fill_form(text, what);
    if (text.empty()) throw RequestError(fmt::format("{} wants a form or a file", what));
    request.input = PlanInput::kFiles;
    request.input_files.push_back(text);
  };
  return input;
}

}  // namespace

void add_plan_options(Options& options, PlanRequest& request, const std::string& strategy_help) {
  using partition::SendingOrder;
  options.add({.name = "records",
               .letter = 'n',
               .value = "NUM",
               .help = "number of records to share, as in 1000000, 1e6 or 1M",
               .fill = take(request.records, parse_records)});
  options.add({.name = "within",
               .value = "SECONDS",
               .help = "share as many records as take at most so long",
               .excludes = {{"records"}, {"critical", "needs a time that grows with the records"}},
               .fill = take(request.within_seconds, seconds_from(0, kMaxWithinSeconds))});
  options.add({.name = "speeds",
               .value = "LIST",
               .help = "relative speeds, as in 1,2,4,8",
               .fill = take(request.shares.speeds, parse_speeds)});
  options.add({.name = "cluster",
               .value = "FILE",
               .help = "cluster file: costs, memory, root of every node",
               .fill = take_path(request.shares.cluster_path)});
  add_strategy_option(options, request.shares, strategy_help);
  options.add(input_option(request));
  options.add({.name = "cost",
               .value = "COST",
               .usual = "nlogn",
               .help = "work of n records where only speeds are known: nlogn, linear, power:E",
               .fill = take(request.cost, parse_cost_shape)});
  options.add(choice({.name = "order",
                      .value = "ORDER",
                      .usual = "bandwidth",
                      .help = "sending order of a scatter: bandwidth or given"},
                     request.order,
                     std::vector<std::pair<std::string, SendingOrder>>{{"bandwidth", SendingOrder::kBandwidth},
                                                                       {"given", SendingOrder::kGiven}}));
  options.add({.name = "root",
               .value = "NAME",
               .help = "the node that holds the data of a scatter; auto tries all",
               .fill = take_text(request.root)});
  options.add({.name = "record-size",
               .value = "BYTES",
               .usual = "100",
               .help = "bytes of a record, which turn memory into caps",
               .fill = take(request.record_bytes, parse_count)});
  options.add(
      {.name = "ignore-memory", .help = "no caps from the nodes' memory", .fill = turn_on(request.ignore_memory)});
  options.add({.name = "no-sync",
               .help = "a whole run does not wait until its output is on the disk",
               .fill = turn_off(request.sync)});
  options.add({.name = "critical",
               .help = "use only the smallest set of nodes that keeps the data in memory",
               .excludes = {{"ignore-memory"}},
               .fill = turn_on(request.critical)});
  options.add({.name = "learn",
               .value = "FILE",
               .help = "measured curves (hetsort.curves/1), by which all plans are judged",
               .excludes = {{"cost", "gives the costs"}},
               .fill = take_path(request.shares.learn_path)});
}

void check_plan(const Options& options, const PlanRequest& request) {
  check_combinations(options, request);
  if (request.input && *request.input != PlanInput::kRoot && (!request.root.empty() || request.order))
    throw RequestError(fmt::format("{} and {} are for input that a root sends; leave {} out", io::field("root"),
                                   io::field("order"), io::field("input")));
}

partition::CostPtr cost_of(const PlanRequest& request) { return request.cost ? request.cost : partition::nlogn_cost(); }

namespace {

/// A plan of so many records, and the seconds that it takes: of the whole run, if they are known.
struct TimedRequest {
  PreparedPlan plan;
  double seconds = 0;
};

TimedRequest time_of(PlanRequest request, std::int64_t records) {
  request.records = records;
  request.within_seconds.reset();
  TimedRequest timed{.plan = prepare_plan(request)};
  const partition::Plan plan = plan_of(timed.plan);
  if (plan.unit != "s")
    throw RequestError(fmt::format("{} needs costs in seconds, and these nodes have speeds only", io::field("within")));
  timed.seconds = plan.run ? plan.run->seconds : plan.makespan;
  return timed;
}

/// The most records that take at most `within_seconds`, found by halving: the time grows with the number of records.
PreparedPlan plan_within(const PlanRequest& request) {
  const double limit = *request.within_seconds;
  TimedRequest best = time_of(request, 0);
  if (best.seconds > limit)
    throw RequestError(fmt::format("{} {}: no records at all take {:.3f} s", io::field("within"), limit, best.seconds));
  constexpr std::int64_t kMostRecords = std::int64_t{1} << 53;
  std::int64_t fits = 0;
  std::int64_t beyond = kMostRecords;
  std::string reason;
  for (std::int64_t tried = 1 << 20; beyond - fits > 1;
       tried = beyond < kMostRecords ? fits + (beyond - fits) / 2 : 2 * tried) {
    if (tried >= kMostRecords)
      throw RequestError(fmt::format("{} {}: costs do not limit the records", io::field("within"), limit));
    try {
      TimedRequest timed = time_of(request, tried);
      reason.clear();
      (timed.seconds <= limit ? fits : beyond) = tried;
      if (timed.seconds <= limit) best = std::move(timed);
    } catch (const partition::PlanError& error) {  // more than the nodes can hold
      beyond = tried;
      reason = error.what();
    }
  }
  best.plan.explanations.push_back(fmt::format("within       {} s: {} records take {:.3f} s{}", limit, fits,
                                               best.seconds, reason.empty() ? "" : ", and more do not fit: " + reason));
  return std::move(best.plan);
}

}  // namespace

PreparedPlan prepare_plan(const PlanRequest& request) {
  if (request.within_seconds) return plan_within(request);
  PreparedPlan plan;
  plan.problem.records = request.records.value_or(0);
  const bool has_cluster = !request.shares.cluster_path.empty();
  if (has_cluster) {
    load_cluster(plan, request);
  } else {
    plan.problem = partition::problem_from_speeds(plan.problem.records, request.shares.speeds, cost_of(request));
    if (!request.shares.learn_path.empty()) use_curves(plan.problem, request.shares.learn_path);
  }
  choose_strategy_of(plan, request);
  return plan;
}

partition::Plan plan_of(const PreparedPlan& prepared) {
  if (!prepared.outside.empty()) return plan_outside(prepared.problem, prepared.outside);
  return partition::make_plan(prepared.problem, prepared.strategy);
}

void choose_strategy_of(PreparedPlan& plan, const PlanRequest& request) {
  std::string name = request.shares.strategy;
  if (name.empty())
    name = usual_strategy({.speeds = !request.shares.speeds.empty(),
                           .cluster = !request.shares.cluster_path.empty(),
                           .whole_runs = plan.problem.run.has_value(),
                           .root_sends = plan.problem.scatter});
  if (is_outside(name)) {
    plan.outside = name;
    return;
  }
  if (name != kAuto) {
    plan.strategy = partition::choose_strategy(name);
    return;
  }
  const partition::AutoChoice choice = choose_automatically(plan.problem);
  plan.strategy = choice.strategy;
  plan.explanations.push_back(fmt::format("chosen       {}", choice.reason));
}

}  // namespace hetsort::job
