// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/run/problem_run.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <unordered_map>

#include "partition/error.h"

namespace hetsort::partition {
namespace {

/// Seconds for each record. The cluster file takes no other merge costs than linear ones.
double merge_seconds(const ClusterNode& node) {
  if (!node.compute) throw PlanError(fmt::format("node '{}' has no compute cost in seconds", node.name));
  if (!node.merge) throw PlanError(fmt::format("node '{}' has no merge cost", node.name));
  return node.merge->affine()->per_record;
}

RankResources resources_of(const ClusterNode& node, std::size_t host, const ClusterUse& use) {
  RankResources rank;
  rank.name = node.name;
  rank.host = host;
  rank.sort = node.compute;
  rank.merge_seconds = merge_seconds(node);
  if (node.message_bytes_per_second) rank.message_seconds = 1 / *node.message_bytes_per_second;
  rank.rates = {node.link_in_bytes_per_second, node.link_out_bytes_per_second, node.disk_read_bytes_per_second,
                node.disk_write_bytes_per_second};
  if (node.memory_bytes) rank.memory_records = use.records_in(*node.memory_bytes);
  if (rank.memory_records == 0)
    throw PlanError(fmt::format("node '{}': a memory of {} bytes is too small to sort records of {} bytes in it",
                                node.name, *node.memory_bytes, use.record_bytes));
  return rank;
}

void check_messages(const Cluster& cluster) {
  const auto has = [&](std::size_t node) { return cluster.nodes[node].message_bytes_per_second.has_value(); };
  for (std::size_t node = 1; node < cluster.nodes.size(); ++node)
    if (has(node) != has(0))
      throw NodeError(
          node, fmt::format("only one of the nodes '{}' and '{}' has 'message': give it for all nodes or for none",
                            cluster.nodes.front().name, cluster.nodes[node].name));
}

/// The resources of a node, as a rank of `host`. Throws: NodeError.
RankResources resources_at(const Cluster& cluster, std::size_t node, std::size_t host, const ClusterUse& use) {
  try {
    return resources_of(cluster.nodes[node], host, use);
  } catch (const PlanError& error) {
    throw NodeError(node, error.what());
  }
}

}  // namespace

void add_run_model(Problem& problem, const Cluster& cluster, const ClusterUse& use) {
  RunModel model;
  model.record_bytes = use.record_bytes;
  model.start_seconds = cluster.start_seconds;
  model.select_seconds = cluster.select_seconds;
  model.synced = use.synced;
  model.publish_seconds = use.synced ? cluster.publish_seconds : 0;
  model.shared = {cluster.shared_link_bytes_per_second, cluster.shared_disk_read_bytes_per_second,
                  cluster.shared_disk_write_bytes_per_second};
  std::unordered_map<std::string, std::size_t> hosts;
  try {
    check_messages(cluster);
    for (std::size_t node = 0; node < cluster.nodes.size(); ++node) {
      const std::size_t host = hosts.emplace(cluster.nodes[node].name, hosts.size()).first->second;
      model.ranks.push_back(resources_at(cluster, node, host, use));
    }
    validate(model);
  } catch (const NodeError& error) {
    problem.run_missing = cluster.place_of(error.node()) + error.what();
    return;
  } catch (const PlanError& error) {
    problem.run_missing = error.what();
    return;
  }
  for (std::size_t i = 0; i < model.ranks.size(); ++i)
    problem.nodes[i].resources = std::make_shared<const RankResources>(std::move(model.ranks[i]));
  model.ranks.clear();
  problem.run = std::move(model);
}

RunModel run_model_of(const Problem& problem) {
  RunModel model = *problem.run;
  model.ranks.reserve(problem.nodes.size());
  for (const ProblemNode& node : problem.nodes) {
    model.ranks.push_back(*node.resources);
    if (node.max_records != kNoCap) model.ranks.back().max_records = node.max_records;
  }
  return model;
}

std::vector<std::int64_t> given_input(const Problem& problem) {
  std::vector<std::int64_t> input;
  for (const ProblemNode& node : problem.nodes)
    if (node.input_records) input.push_back(*node.input_records);
  return input;
}

}  // namespace hetsort::partition
