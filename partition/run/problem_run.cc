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

/// In memory, each record has an element of the index beside it.
constexpr std::int64_t kElementBytes = 16;

/// Seconds for each record. The cluster file takes no other merge costs than linear ones.
double merge_seconds(const ClusterNode& node) {
  if (!node.compute) throw PlanError(fmt::format("node '{}' has no compute cost in seconds", node.name));
  if (!node.merge) throw PlanError(fmt::format("node '{}' has no merge cost", node.name));
  return node.merge->affine()->per_record;
}

RankResources resources_of(const ClusterNode& node, std::size_t host, std::int64_t record_bytes) {
  RankResources rank;
  rank.name = node.name;
  rank.host = host;
  rank.sort = node.compute;
  rank.merge_seconds = merge_seconds(node);
  if (node.message_bytes_per_second) rank.message_seconds = 1 / *node.message_bytes_per_second;
  rank.rates = {node.link_in_bytes_per_second, node.link_out_bytes_per_second, node.disk_read_bytes_per_second,
                node.disk_write_bytes_per_second};
  if (node.memory_bytes) rank.memory_records = *node.memory_bytes / (record_bytes + kElementBytes);
  return rank;
}

void check_messages(const Cluster& cluster) {
  const ClusterNode& first = cluster.nodes.front();
  for (const ClusterNode& node : cluster.nodes)
    if (node.message_bytes_per_second.has_value() != first.message_bytes_per_second.has_value())
      throw PlanError(
          fmt::format("only one of the nodes '{}' and '{}' has 'message': give it for all nodes or for none",
                      first.name, node.name));
}

}  // namespace

void add_run_model(Problem& problem, const Cluster& cluster, std::int64_t record_bytes) {
  RunModel model;
  model.record_bytes = record_bytes;
  model.start_seconds = cluster.start_seconds;
  model.select_seconds = cluster.select_seconds;
  model.publish_seconds = cluster.publish_seconds;
  model.shared = {cluster.shared_link_bytes_per_second, cluster.shared_disk_read_bytes_per_second,
                  cluster.shared_disk_write_bytes_per_second};
  std::unordered_map<std::string, std::size_t> hosts;
  try {
    check_messages(cluster);
    for (const ClusterNode& node : cluster.nodes)
      model.ranks.push_back(resources_of(node, hosts.emplace(node.name, hosts.size()).first->second, record_bytes));
    validate(model);
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
