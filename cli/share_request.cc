// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/share_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "cli/options.h"
#include "cli/plan_input.h"
#include "partition/cluster.h"
#include "partition/plan.h"
#include "partition/scatter.h"

namespace hetsort::cli {

namespace {

namespace po = boost::program_options;

/// The cluster's node of each rank.
partition::Cluster nodes_of_ranks(const partition::Cluster& cluster, const std::string& path,
                                  const sort::Communicator& ranks) {
  const auto size = static_cast<std::size_t>(ranks.size());
  std::vector<bool> taken(cluster.nodes.size(), false);
  std::vector<std::optional<std::size_t>> node_of(size);
  std::size_t matched = 0;
  std::string missing;
  for (std::size_t rank = 0; rank < size; ++rank) {
    const std::string& host = ranks.host(static_cast<int>(rank));
    for (std::size_t node = 0; node < cluster.nodes.size() && !node_of[rank]; ++node)
      if (!taken[node] && cluster.nodes[node].name == host) node_of[rank] = node;
    if (node_of[rank]) taken[*node_of[rank]] = true;
    matched += node_of[rank] ? 1U : 0U;
    if (!node_of[rank] && missing.empty()) missing = fmt::format("rank {} on host {}", rank, host);
  }
  if (matched == 0 && cluster.nodes.size() == size)
    for (std::size_t rank = 0; rank < size; ++rank) node_of[rank] = rank;
  else if (matched < size)
    throw UsageError(
        fmt::format("{}: has {} nodes, and none is left for {}; nodes are matched by name, or, when no "
                    "name fits, in order if there are as many as ranks",
                    path, cluster.nodes.size(), missing));
  partition::Cluster chosen;
  for (std::size_t rank = 0; rank < size; ++rank) chosen.nodes.push_back(cluster.nodes[*node_of[rank]]);
  return chosen;
}

/// Plans with `choice`; a scatter strategy plans in sending order.
RankPlan plan(const partition::Problem& problem, const partition::StrategyChoice& choice,
              std::optional<std::size_t> root) {
  RankPlan result;
  result.in_seconds = problem.speed_shape == nullptr;
  partition::Problem arranged = problem;
  for (std::size_t rank = 0; rank < problem.nodes.size(); ++rank) result.rank_of_node.push_back(static_cast<int>(rank));
  if (choice.strategy->kind == partition::Strategy::Kind::kScatter) {
    // Names tell where a node went.
    for (std::size_t rank = 0; rank < problem.nodes.size(); ++rank) arranged.nodes[rank].name = std::to_string(rank);
    arranged = partition::arrange_scatter(std::move(arranged), root.value_or(0), partition::SendingOrder::kBandwidth);
    for (std::size_t place = 0; place < arranged.nodes.size(); ++place) {
      result.rank_of_node[place] = std::stoi(arranged.nodes[place].name);
      arranged.nodes[place].name = problem.nodes[static_cast<std::size_t>(result.rank_of_node[place])].name;
    }
  }
  result.plan = partition::make_plan(arranged, choice);
  return result;
}

}  // namespace

void add_share_options(po::options_description& options) {
  auto add = options.add_options();
  const auto text = [] { return po::value<std::string>(); };
  add("strategy", text()->value_name("NAME"),
      "how ranks share records, as in 'hetsort plan' (lambert with --speeds, threshold with --cluster, else equal)");
  add("speeds", text()->value_name("LIST"), "relative speeds of the ranks, as in 1,2,4");
  add("cluster", text()->value_name("FILE"), "cluster file: what each rank's host costs");
}

ShareRequest requested_shares(const po::variables_map& values) {
  ShareRequest request;
  if (values.count("strategy") != 0) request.strategy = values["strategy"].as<std::string>();
  if (values.count("cluster") != 0) request.cluster_path = values["cluster"].as<std::string>();
  if (values.count("speeds") != 0) {
    if (!request.cluster_path.empty()) throw UsageError("--speeds and --cluster exclude each other");
    request.speeds = parse_speeds(values["speeds"].as<std::string>());
    if (request.speeds.empty()) throw UsageError("--speeds wants a list of numbers");
  }
  if (request.strategy == "auto") throw UsageError("--strategy auto is not built yet");
  if (request.strategy == "learned") throw UsageError("--strategy learned needs --learn, which is not built yet");
  if (!request.strategy.empty()) static_cast<void>(partition::choose_strategy(request.strategy));
  return request;
}

PlanRanks rank_planner(const ShareRequest& request, const sort::Communicator& ranks, std::size_t record_bytes) {
  const auto size = static_cast<std::size_t>(ranks.size());
  const bool by_cluster = !request.cluster_path.empty();
  std::string name = request.strategy;
  if (name.empty()) name = by_cluster ? "threshold" : request.speeds.empty() ? "equal" : "lambert";
  const partition::StrategyChoice choice = partition::choose_strategy(name);
  if (by_cluster) {
    const partition::Cluster cluster =
        nodes_of_ranks(partition::parse_cluster(read_text_file(request.cluster_path), request.cluster_path),
                       request.cluster_path, ranks);
    // What does not fit memory spills: memory is no cap here.
    const partition::ClusterUse use{.record_bytes = static_cast<std::int64_t>(record_bytes), .memory_caps = false};
    return [cluster, use, choice](std::uint64_t records) {
      return plan(partition::problem_from_cluster(cluster, static_cast<std::int64_t>(records), use), choice,
                  cluster.root());
    };
  }
  std::vector<double> speeds = request.speeds;
  if (speeds.empty()) speeds.assign(size, 1.0);
  if (speeds.size() != size)
    throw UsageError(fmt::format("--speeds gives {} speeds for {} rank{}", speeds.size(), size, size == 1 ? "" : "s"));
  return [speeds, choice](std::uint64_t records) {
    return plan(partition::problem_from_speeds(static_cast<std::int64_t>(records), speeds), choice, std::nullopt);
  };
}

sort::PlanShares plan_shares_by(const PlanRanks& planner) {
  return [planner](std::uint64_t records) {
    const RankPlan planned = planner(records);
    sort::Shares shares;
    shares.strategy = planned.plan.strategy;
    shares.records.resize(planned.rank_of_node.size());
    shares.parts.resize(planned.rank_of_node.size());
    for (std::size_t node = 0; node < planned.rank_of_node.size(); ++node) {
      const auto rank = static_cast<std::size_t>(planned.rank_of_node[node]);
      shares.records[rank] = static_cast<std::uint64_t>(planned.plan.nodes[node].records);
      shares.parts[rank] = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(planned.plan.nodes[node].processes));
    }
    shares.order = planned.rank_of_node;
    if (planned.in_seconds) shares.predicted_seconds = planned.plan.makespan;
    return shares;
  };
}

}  // namespace hetsort::cli
