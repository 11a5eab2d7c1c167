// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "job/shares/rank_planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "io/field.h"
#include "job/options/parse.h"
#include "job/shares/given_shares.h"
#include "job/shares/match_hosts.h"
#include "job/shares/measured_records.h"
#include "job/shares/outside_strategy.h"
#include "job/shares/plan_input.h"
#include "job/shares/strategy_choice.h"
#include "partition/cluster.h"
#include "partition/error.h"
#include "partition/scatter.h"
#include "partition/strategy.h"

namespace hetsort::job {

namespace {

/// The cluster's nodes in the order of the ranks.
struct NodesOfRanks {
  partition::Cluster cluster;
  bool by_name = true;  ///< nodes were matched by host name; otherwise by their order in the file
};

NodesOfRanks nodes_of_ranks(const partition::Cluster& cluster, const std::string& path,
                            const comm::Communicator& ranks) {
  NodesOfRanks result;
  const PlacesOfRanks found = places_of_ranks(cluster, path, ranks);
  result.cluster = partition::select_nodes(cluster, found.nodes);
  result.by_name = found.by_name;
  return result;
}

using MakeProblem = std::function<partition::Problem(const sort::RecordsToShare& what)>;

/// What is known of the ranks.
struct Knowledge {
  MakeProblem problem;
  std::optional<std::size_t> root{};  ///< the rank that a cluster file marks
  bool any = false;                   ///< something is known; otherwise all ranks count as alike
  bool speeds = false;                ///< speeds of all ranks, besides what else is known
  bool scatters = false;              ///< it says what sending from rank 0 costs
  GivenShares given{};                ///< shares that the caller gives, in rank order
  std::string note{};                 ///< remark for the user
};

/// Whether every rank but 0 has a receive cost, in the same unit as its other cost.
bool has_receive_costs(const partition::Cluster& cluster) {
  const bool links = !cluster.link_bytes_per_second.empty();
  for (std::size_t rank = 0; rank < cluster.nodes.size(); ++rank)
    if (!cluster.nodes[rank].compute || (rank != 0 && !links && !cluster.nodes[rank].receive)) return false;
  return links || cluster.root().value_or(0) == 0;
}

/// Sets each node's memory in the model of a whole run to that of its rank, unless the user gave none and the file has
/// less: the file has what a system allows, and by default a sort takes a part of it. Collective.
void use_memory(partition::Cluster& cluster, const SortMemory& own, comm::Communicator& ranks) {
  const std::vector<SortMemory> of_ranks = ranks.all_gather(own);
  const bool in_file =
      std::ranges::any_of(cluster.nodes, [](const auto& node) { return node.memory_bytes.has_value(); });
  for (std::size_t rank = 0; rank < cluster.nodes.size(); ++rank) {
    std::optional<std::int64_t>& bytes = cluster.nodes[rank].memory_bytes;
    const auto used = static_cast<std::int64_t>(of_ranks[rank].bytes);
    if (of_ranks[rank].given || !in_file || (bytes && used < *bytes)) bytes = used;
  }
}

/// The problem of the ranks; with the model of a whole run, if the command sorts.
MakeProblem problem_maker(const partition::Cluster& cluster, const std::string& path, const ShareUse& use) {
  const auto record_bytes = static_cast<std::int64_t>(use.record_bytes);
  // Records that do not fit memory spill: memory is no cap here.
  const partition::ClusterUse cluster_use{.record_bytes = record_bytes,
                                          .memory_caps = false,
                                          .synced = use.synced,
                                          .records_in_memory = records_in_memory(record_bytes)};
  return [cluster, cluster_use, path, sorts = use.memory.has_value()](const sort::RecordsToShare& what) {
    try {
      partition::Problem problem =
          partition::problem_from_cluster(cluster, static_cast<std::int64_t>(what.records), cluster_use);
      partition::ClusterUse run_use = cluster_use;
      run_use.input_cached = what.input_cached;
      run_use.writes_directly = what.writes_directly;
      if (sorts)
        partition::add_run_model(problem, cluster, run_use);
      else
        problem.run_missing = "it plans whole sorts, and this command does not sort";
      for (std::size_t rank = 0; rank < what.input.size(); ++rank)
        problem.nodes[rank].input_records = static_cast<std::int64_t>(what.input[rank]);
      return problem;
    } catch (const partition::PlanError& error) {
      throw partition::PlanError(fmt::format("{}: {}", path, error.what()));
    }
  };
}

/// The shares of the ranks, which a list or a plan gives. Collective.
GivenShares given_shares(const ShareRequest& request, comm::Communicator& ranks) {
  if (request.plan_path.empty()) {
    if (request.shares.size() != static_cast<std::size_t>(ranks.size()))
      throw RequestError(fmt::format("{} gives {} shares for {} rank{}", io::field("shares"), request.shares.size(),
                                     ranks.size(), ranks.size() == 1 ? "" : "s"));
    return {.records = {request.shares.begin(), request.shares.end()}};
  }
  const std::string& path = request.plan_path;
  const GivenShares plan = parse_plan(read_on_root([&] { return read_text_file(path); }, ranks), path);
  partition::Cluster nodes;
  for (const std::string& name : plan.names) nodes.nodes.emplace_back().name = name;
  GivenShares given;
  for (const std::size_t node : places_of_ranks(nodes, path, ranks).nodes) {
    given.records.push_back(plan.records[node]);
    if (!plan.input.empty()) given.input.push_back(plan.input[node]);
  }
  return given;
}

/// Collective.
Knowledge what_is_known(const ShareRequest& request, comm::Communicator& ranks, const ShareUse& use) {
  const auto size = static_cast<std::size_t>(ranks.size());
  Knowledge known;
  if (!request.cluster_path.empty()) {
    const std::string& path = request.cluster_path;
    const auto read = [&] {
      std::string text = read_text_file(path);
      static_cast<void>(nodes_of_ranks(partition::parse_cluster(text, path), path, ranks));
      return text;
    };
    NodesOfRanks nodes = nodes_of_ranks(partition::parse_cluster(read_on_root(read, ranks), path), path, ranks);
    partition::Cluster& cluster = nodes.cluster;
    if (!nodes.by_name)
      known.note = fmt::format("no node of {} has the name of a rank's host: nodes are taken in their order", path);
    if (const std::string note = use.layout ? note_on_records(cluster, *use.layout) : ""; !note.empty())
      known.note += (known.note.empty() ? "" : "; ") + note;
    if (use.memory) use_memory(cluster, *use.memory, ranks);
    known.problem = problem_maker(cluster, path, use);
    // Links say what sending from rank 0 costs, whichever node the file marks as root.
    if (cluster.link_bytes_per_second.empty()) known.root = cluster.root();
    known.any = true;
    known.speeds = std::all_of(cluster.nodes.begin(), cluster.nodes.end(),
                               [](const partition::ClusterNode& node) { return node.speed.has_value(); });
    known.scatters = size > 1 && has_receive_costs(cluster);
    return known;
  }
  std::vector<double> speeds = request.speeds;
  known.any = known.speeds = !speeds.empty();
  if (speeds.empty()) speeds.assign(size, 1.0);
  if (speeds.size() != size)
    throw RequestError(fmt::format("{} gives {} speeds for {} rank{}", io::field("speeds"), speeds.size(), size,
                                   size == 1 ? "" : "s"));
  known.problem = [speeds](const sort::RecordsToShare& what) {
    return partition::problem_from_speeds(static_cast<std::int64_t>(what.records), speeds);
  };
  return known;
}

/// The ranks' problem as a scatter: nodes in sending order.
struct Arranged {
  partition::Problem problem;
  std::vector<int> rank_of_node;
};

Arranged arrange(const partition::Problem& problem, std::size_t root) {
  Arranged result{.problem = problem, .rank_of_node = {}};
  std::vector<partition::ProblemNode>& nodes = result.problem.nodes;
  // Nodes are named after their ranks, because arranging them changes their order.
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) nodes[rank].name = std::to_string(rank);
  result.problem = partition::arrange_scatter(std::move(result.problem), root, partition::SendingOrder::kBandwidth);
  for (partition::ProblemNode& node : result.problem.nodes) {
    result.rank_of_node.push_back(std::stoi(node.name));
    node.name = problem.nodes[static_cast<std::size_t>(result.rank_of_node.back())].name;
  }
  return result;
}

/// The shares of a plan whose nodes are ranks, in the order in which a root would serve them.
sort::Shares shares_of(const Arranged& arranged, partition::Plan plan) {
  sort::Shares shares;
  shares.plan = std::move(plan);
  shares.strategy = shares.plan.strategy;
  shares.order = arranged.rank_of_node;
  shares.records.resize(shares.order.size());
  shares.input.resize(shares.order.size());
  shares.parts.resize(shares.order.size());
  for (std::size_t node = 0; node < shares.order.size(); ++node) {
    const auto rank = static_cast<std::size_t>(shares.order[node]);
    shares.records[rank] = static_cast<std::uint64_t>(shares.plan.nodes[node].records);
    shares.input[rank] = static_cast<std::uint64_t>(shares.plan.nodes[node].input);
    shares.parts[rank] = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(shares.plan.nodes[node].processes));
  }
  if (shares.input == shares.records) shares.input.clear();
  const bool in_seconds = arranged.problem.speed_shape == nullptr;
  if (in_seconds) shares.predicted_seconds = shares.plan.run ? shares.plan.run->seconds : shares.plan.makespan;
  shares.run = shares.plan.run;
  return shares;
}

sort::Shares shares_of(const Arranged& arranged, const partition::StrategyChoice& choice) {
  return shares_of(arranged, partition::make_plan(arranged.problem, choice));
}

Arranged in_rank_order(const partition::Problem& problem) {
  std::vector<int> ranks(problem.nodes.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  return {problem, std::move(ranks)};
}

/// Plans with the strategy that the user named.
RankPlanner plan_as_named(const Knowledge& known, const partition::StrategyChoice& choice) {
  return {.output = [known, choice](const sort::RecordsToShare& what) {
    const partition::Problem problem = known.problem(what);
    if (choice.strategy->kind == partition::Strategy::Kind::kScatter)
      return shares_of(arrange(problem, known.root.value_or(0)), choice);
    return shares_of(in_rank_order(problem), choice);
  }};
}

/// Plans with the shares that the caller gives.
RankPlanner plan_as_given(const Knowledge& known) {
  return {.output = [known](const sort::RecordsToShare& what) {
    const Arranged ranks = in_rank_order(known.problem(what));
    const std::vector<std::int64_t> input = what.input.empty() ? known.given.input : std::vector<std::int64_t>();
    return shares_of(ranks, partition::plan_of_shares(ranks.problem, std::string(kGiven), known.given.records, input));
  }};
}

/// Plans with a program of the user.
RankPlanner plan_as_program(const Knowledge& known, const std::string& strategy) {
  return {.output = [known, strategy](const sort::RecordsToShare& what) {
    const Arranged ranks = in_rank_order(known.problem(what));
    return shares_of(ranks, plan_outside(ranks.problem, strategy));
  }};
}

/// With the strategy that is exact for what is known.
sort::Shares plan_automatically(const Arranged& arranged) {
  const partition::AutoChoice choice = choose_automatically(arranged.problem);
  sort::Shares shares = shares_of(arranged, choice.strategy);
  shares.reason = choice.reason;
  return shares;
}

/// The shares by curves. Costs are the seconds of forming runs, from which shares follow but not the duration of the
/// sort.
sort::Shares plan_by_curves(partition::Problem problem, const CurveTable& curves) {
  problem.run.reset();
  for (std::size_t rank = 0; rank < problem.nodes.size(); ++rank) problem.nodes[rank].name = curves.names()[rank];
  curves.learner().apply(problem);
  for (partition::ProblemNode& node : problem.nodes)
    if (node.measured) node.compute = node.measured, problem.speed_shape = nullptr;
  sort::Shares shares = shares_of(in_rank_order(problem), partition::choose_strategy("learned"));
  shares.predicted_seconds = 0;
  return shares;
}

std::string no_curve(const CurveTable& curves) {
  return fmt::format("{} has no curve of {} yet", curves.path(), curves.unknown());
}

RankPlanner plan_as_learned(const Knowledge& known, const CurveTable& curves) {
  return {.output = [known, curves](const sort::RecordsToShare& what) {
    sort::Shares shares = plan_by_curves(known.problem(what), curves);
    shares.reason = curves.unknown().empty() ? fmt::format("{} has curves of all ranks", curves.path())
                                             : no_curve(curves) + ", but speeds are known";
    return shares;
  }};
}

/// `more` is appended to each plan's reason.
RankPlanner plan_by_knowledge(const Knowledge& known, bool root_sends, const std::string& more) {
  const auto explained = [more](sort::Shares shares) {
    shares.reason += more;
    return shares;
  };
  RankPlanner planner{.output = [known, explained](const sort::RecordsToShare& what) {
    return explained(plan_automatically(in_rank_order(known.problem(what))));
  }};
  if (root_sends && known.scatters)
    planner.input = [known, explained](const sort::RecordsToShare& what) {
      const partition::Problem problem = known.problem(what);
      Arranged sent = arrange(problem, 0);
      const bool suits = partition::choose_for_scatter(sent.problem).has_value();
      return explained(plan_automatically(suits ? sent : in_rank_order(problem)));
    };
  return planner;
}

RankPlanner plan_without_knowledge(const Knowledge& known, bool by_rates, const std::optional<CurveTable>& curves) {
  std::string reason = "nothing is known of the ranks";
  if (curves) reason = no_curve(*curves);
  if (by_rates) reason += ": output shares follow the rates at which they form runs";
  RankPlanner planner{.output = [known, by_rates, reason](const sort::RecordsToShare& what) {
    sort::Shares shares = shares_of(in_rank_order(known.problem(what)), partition::choose_strategy("equal"));
    if (by_rates) shares.strategy = shares.plan.strategy = "auto";
    shares.reason = reason;
    return shares;
  }};
  planner.by_rates = by_rates;
  return planner;
}

/// `measures`: whether the job can measure its ranks' rates.
RankPlanner planner_for(const ShareRequest& request, const Knowledge& known, const ShareUse& use, bool measures) {
  std::string name = request.strategy;
  if (name == kGiven || (name.empty() && gives_shares(request))) return plan_as_given(known);
  if (name.empty())
    name = usual_strategy({.measures = measures, .speeds = known.any, .cluster = !request.cluster_path.empty()});
  if (is_outside(name)) return plan_as_program(known, name);
  const bool learned = name == "learned" && use.curves;
  if (name != kAuto && !learned) {
    RankPlanner planner = plan_as_named(known, partition::choose_strategy(name));
    if (name == "phases") planner.input = plan_by_knowledge(known, use.root_sends, "").input;
    return planner;
  }
  if (use.curves && (use.curves->unknown().empty() || (learned && known.speeds)))
    return plan_as_learned(known, *use.curves);
  if (!known.any) return plan_without_knowledge(known, measures, use.curves);
  return plan_by_knowledge(known, use.root_sends, learned ? "; " + no_curve(*use.curves) : "");
}

}  // namespace

void add_share_options(Options& options, ShareRequest& request) {
  options.add({.name = "speeds",
               .value = "LIST",
               .help = "relative speeds of the ranks, as in 1,2,4",
               .excludes = {{"cluster"}},
               .fill = take(request.speeds, parse_speeds)});
  options.add({.name = "cluster",
               .value = "FILE",
               .help = "cluster file: what each rank's host costs",
               .fill = take_path(request.cluster_path)});
  options.add({.name = "shares",
               .value = "LIST",
               .help = "records of each rank, as in 4e6,1e6,1e6",
               .excludes = {{"plan"}},
               .fill = take(request.shares, parse_shares)});
  options.add({.name = "plan",
               .value = "FILE",
               .help = "take the ranks' records from what 'hetsort plan' printed as JSON",
               .fill = take_path(request.plan_path)});
}

void add_strategy_option(Options& options, ShareRequest& request, const std::string& help) {
  std::vector<std::string> names{std::string(kAuto)};
  for (const partition::Strategy* const strategy : partition::all_strategies()) names.emplace_back(strategy->name);
  names.emplace_back(kOutside);
  options.add({.name = "strategy",
               .value = "NAME",
               .help = help,
               .fill = take(request.strategy, parse_strategy),
               .words = std::move(names)});
}

bool gives_shares(const ShareRequest& request) { return !request.shares.empty() || !request.plan_path.empty(); }

void check_shares(const ShareRequest& request) {
  if (!request.speeds.empty() && !request.cluster_path.empty())
    throw RequestError(fmt::format("{} and {} exclude each other", io::field("speeds"), io::field("cluster")));
  if (request.strategy == "learned" && request.learn_path.empty())
    throw RequestError(
        fmt::format("{} learned needs {} FILE, which sort has", io::field("strategy"), io::field("learn")));
  if (gives_shares(request) && !request.strategy.empty() && request.strategy != kGiven)
    throw RequestError(fmt::format("{} {} and {} exclude each other", io::field("strategy"), request.strategy,
                                   io::field(request.shares.empty() ? "plan" : "shares")));
  if (request.strategy == kGiven && !gives_shares(request))
    throw RequestError(
        fmt::format("{} given needs {} or {}", io::field("strategy"), io::field("shares"), io::field("plan")));
}

std::string parse_strategy(const std::string& name, const std::string& what) {
  if (is_outside(name) && name.find_first_not_of(' ', kOutside.size()) == std::string::npos)
    throw RequestError(fmt::format("{} {} wants a command behind the colon", what, name));
  if (name != kAuto && name != kGiven && !is_outside(name)) static_cast<void>(partition::choose_strategy(name));
  return name;
}

RankPlanner rank_planner(const ShareRequest& request, comm::Communicator& ranks, const ShareUse& use) {
  Knowledge known = what_is_known(request, ranks, use);
  if (gives_shares(request)) known.given = given_shares(request, ranks);
  RankPlanner planner = planner_for(request, known, use, use.measures && ranks.size() > 1);
  planner.problem = known.problem;
  if (ranks.rank() == 0 && ranks.size() > 1) planner.note = known.note;
  return planner;
}

}  // namespace hetsort::job
