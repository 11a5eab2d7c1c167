// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <unordered_map>

#include "partition/error.h"
#include "partition/text/cost_text.h"
#include "partition/text/plain_name.h"
#include "partition/text/quantity.h"
#include "partition/text/toml_reader.h"

namespace hetsort::partition {
namespace {

constexpr std::int64_t kMaxNodes = 1'000'000;
constexpr std::size_t kMaxNameLength = 255;  // a host name's limit

double read_positive(const TomlTable& table, std::string_view key) {
  const double number = table.number(key);
  if (!std::isfinite(number) || number <= 0)
    table.fail(key, fmt::format("{} must be a finite number above zero, not {}", key, number));
  return number;
}

double read_seconds(const TomlTable& table, std::string_view key) {
  const double seconds = table.number_or(key, 0);
  if (!std::isfinite(seconds) || seconds < 0)
    table.fail(key, fmt::format("{} must be a finite number of seconds, at least 0, not {}", key, seconds));
  return seconds;
}

template <typename Parse>
auto read_quantity(const TomlTable& table, std::string_view key, Parse parse) {
  try {
    return parse(table.text_or_number(key), key);
  } catch (const TomlError&) {
    throw;
  } catch (const PlanError& error) {
    table.fail(key, error.what());
  }
}

template <typename Parse>
std::optional<double> read_rate(const TomlTable& table, std::string_view key, Parse parse) {
  return table.has(key) ? std::optional(read_quantity(table, key, parse)) : std::nullopt;
}

/// Reads the rates of a node's processor while it sends and receives. `message` sets both directions.
void read_messages(const TomlTable& table, ClusterNode& node) {
  const auto both = read_rate(table, "message", parse_bytes_per_second);
  const auto in = read_rate(table, "message_in", parse_bytes_per_second);
  const auto out = read_rate(table, "message_out", parse_bytes_per_second);
  node.message_in_bytes_per_second = in ? in : both;
  node.message_out_bytes_per_second = out ? out : both;
}

/// Reads the rates of a node's link. `bandwidth` sets both directions, and is also a limit of bench/lab.
void read_links(const TomlTable& table, ClusterNode& node) {
  const auto both = read_rate(table, "bandwidth", parse_link_bytes_per_second);
  const auto in = read_rate(table, "bandwidth_in", parse_link_bytes_per_second);
  const auto out = read_rate(table, "bandwidth_out", parse_link_bytes_per_second);
  node.limits.link_bytes_per_second = both;
  node.link_in_bytes_per_second = in ? in : both;
  node.link_out_bytes_per_second = out ? out : both;
}

CostPtr read_merge(const TomlTable& table) {
  CostPtr cost = read_cost(table.table("merge"));
  if (!cost->affine() || cost->affine()->start > 0) table.fail("merge", "merge must be of the kind linear");
  return cost;
}

/// The fields by which bench/lab slows down its hosts.
void read_limits(const TomlTable& table, HostLimits& limits) {
  if (table.has("cpu")) limits.cores = read_positive(table, "cpu");
  if (table.has("latency")) limits.latency_seconds = read_quantity(table, "latency", parse_seconds);
}

void slow_down(std::optional<double>& rate, double factor) {
  if (rate) *rate /= factor;
}

/// Reads what real sorts have shown, and applies it to the costs of the node.
void read_learned(const TomlTable& node_table, ClusterNode& node) {
  if (!node_table.has("learned")) return;
  const TomlTable table = node_table.table("learned");
  table.allow_only({"form", "exchange", "link", "disk"});
  const auto factor = [&table](std::string_view key) { return table.has(key) ? read_positive(table, key) : 1.0; };
  const LearnedFactors& learned = node.learned = {factor("form"), factor("exchange"), factor("link"), factor("disk")};
  if (node.compute) node.compute = scaled_cost(node.compute, 1 / learned.form);
  if (node.merge) node.merge = scaled_cost(node.merge, 1 / learned.exchange);
  slow_down(node.message_in_bytes_per_second, learned.exchange);
  slow_down(node.message_out_bytes_per_second, learned.exchange);
  slow_down(node.link_in_bytes_per_second, learned.link);
  slow_down(node.link_out_bytes_per_second, learned.link);
  slow_down(node.disk_read_bytes_per_second, learned.disk);
  slow_down(node.disk_write_bytes_per_second, learned.disk);
}

ClusterNode read_node(const TomlTable& table) {
  table.allow_only({"name", "count", "speed", "compute", "merge", "message", "message_in", "message_out", "receive",
                    "memory", "disk_read", "disk_write", "bandwidth", "bandwidth_in", "bandwidth_out", "root", "cpu",
                    "latency", "learned"});
  ClusterNode node;
  if (table.has("name")) {
    node.name = table.text("name");
    if (node.name.empty() || node.name.size() > kMaxNameLength || !is_plain_name(node.name))
      table.fail("name", "name must have 1 to 255 characters and no control characters");
  }
  if (table.has("speed")) node.speed = read_positive(table, "speed");
  if (table.has("compute")) node.compute = read_cost(table.table("compute"));
  if (table.has("merge")) node.merge = read_merge(table);
  if (table.has("receive")) node.receive = read_cost(table.table("receive"));
  const auto bytes = [](std::string_view text, std::string_view what) { return parse_bytes(text, what); };
  if (table.has("memory")) node.memory_bytes = read_quantity(table, "memory", bytes);
  node.disk_read_bytes_per_second = read_rate(table, "disk_read", parse_bytes_per_second);
  node.disk_write_bytes_per_second = read_rate(table, "disk_write", parse_bytes_per_second);
  read_messages(table, node);
  read_links(table, node);
  read_learned(table, node);
  node.root = table.has("root") && table.truth("root");
  const TextPlace place = table.place();
  node.line = place.line;
  node.column = place.column;
  read_limits(table, node.limits);
  if (!node.speed && !node.compute) table.fail("", "a node needs a speed or a compute cost");
  return node;
}

/// Reads the matrix of link rates. Its diagonal is ignored.
LinkMatrix read_link_matrix(const TomlTable& table, std::size_t nodes) {
  LinkMatrix links;
  table.read_square("links", nodes, [&](std::size_t row, std::size_t column, const std::string& text) {
    if (column == 0) links.emplace_back(nodes, 0.0);
    if (row != column) links.back()[column] = parse_link_bytes_per_second(text, "the link");
  });
  return links;
}

std::int64_t read_count(const TomlTable& table, std::size_t nodes_before) {
  if (!table.has("count")) return 1;
  const std::int64_t count = table.whole("count");
  if (count < 1) table.fail("count", fmt::format("count must be at least 1, not {}", count));
  if (count > kMaxNodes - static_cast<std::int64_t>(nodes_before))
    table.fail("count", fmt::format("more than {} nodes", kMaxNodes));
  return count;
}

void number_nodes(Cluster& cluster) {
  std::vector<std::string> names;
  names.reserve(cluster.nodes.size());
  for (const ClusterNode& node : cluster.nodes) names.push_back(node.name);
  const std::vector<std::size_t> numbers = numbers_of_names(names);
  for (std::size_t i = 0; i < numbers.size(); ++i) cluster.nodes[i].number = numbers[i];
}

}  // namespace

std::optional<std::size_t> Cluster::root() const {
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].root) return i;
  return std::nullopt;
}

std::string Cluster::place_of(std::size_t node) const {
  if (nodes[node].line == 0) return {};
  return fmt::format("{}:{}:{}: ", source_name, nodes[node].line, nodes[node].column);
}

Cluster select_nodes(const Cluster& cluster, std::span<const std::size_t> places) {
  Cluster selected = cluster;
  selected.nodes.clear();
  for (const std::size_t place : places) selected.nodes.push_back(cluster.nodes[place]);
  selected.link_bytes_per_second = select_links(cluster.link_bytes_per_second, places);
  return selected;
}

Cluster parse_cluster(std::string_view text, std::string_view source_name) {
  const TomlDocument document(text, source_name);
  const TomlTable whole = document.root();
  whole.allow_only({"start", "select", "publish", "record_size", "keys", "shared_bandwidth", "shared_disk_read",
                    "shared_disk_write", "links", "node"});
  Cluster cluster;
  cluster.source_name = source_name;
  cluster.start_seconds = read_seconds(whole, "start");
  cluster.select_seconds = read_seconds(whole, "select");
  cluster.publish_seconds = read_seconds(whole, "publish");
  if (whole.has("record_size") && (cluster.record_bytes = whole.whole("record_size")) < 1)
    whole.fail("record_size", "the record size must be at least 1");
  whole.each_text("keys", [&](const std::string& key) { cluster.keys.push_back(key); });
  cluster.shared_link_bytes_per_second = read_rate(whole, "shared_bandwidth", parse_link_bytes_per_second);
  cluster.shared_disk_read_bytes_per_second = read_rate(whole, "shared_disk_read", parse_bytes_per_second);
  cluster.shared_disk_write_bytes_per_second = read_rate(whole, "shared_disk_write", parse_bytes_per_second);
  for (const TomlTable& table : whole.tables("node")) {
    const std::int64_t count = read_count(table, cluster.nodes.size());
    const ClusterNode node = read_node(table);
    if (node.root && (count > 1 || cluster.root())) table.fail("root", "only one node can be the root");
    for (std::int64_t i = 0; i < count; ++i) {
      cluster.nodes.push_back(node);
      if (node.name.empty()) cluster.nodes.back().name = std::to_string(cluster.nodes.size() - 1);
    }
    if (cluster.nodes.size() > static_cast<std::size_t>(kMaxNodes))
      table.fail("", fmt::format("more than {} nodes", kMaxNodes));
  }
  if (cluster.nodes.empty()) throw PlanError(fmt::format("{}: there is no [[node]]", source_name));
  number_nodes(cluster);
  if (whole.has("links")) cluster.link_bytes_per_second = read_link_matrix(whole, cluster.nodes.size());
  return cluster;
}

Problem problem_from_cluster(const Cluster& cluster, std::int64_t records, const ClusterUse& use) {
  if (use.record_bytes < 1)
    throw PlanError(fmt::format("the record size must be at least 1, not {}", use.record_bytes));
  Problem problem;
  problem.records = records;
  const auto lacks_compute =
      std::find_if(cluster.nodes.begin(), cluster.nodes.end(), [](const ClusterNode& node) { return !node.compute; });
  const auto lacks_speed =
      std::find_if(cluster.nodes.begin(), cluster.nodes.end(), [](const ClusterNode& node) { return !node.speed; });
  const bool by_compute = lacks_compute == cluster.nodes.end();
  if (!by_compute && lacks_speed != cluster.nodes.end())
    throw PlanError(
        fmt::format("node '{}' has no compute cost and node '{}' no speed: seconds and work units cannot be "
                    "compared; give all nodes the one or the other",
                    lacks_compute->name, lacks_speed->name));
  if (by_compute)
    problem.start_delay = cluster.start_seconds;
  else
    problem.speed_shape = use.shape;
  if (!cluster.link_bytes_per_second.empty()) {
    LinkMatrix seconds = cluster.link_bytes_per_second;
    for (std::size_t row = 0; row < seconds.size(); ++row)
      for (std::size_t column = 0; column < seconds.size(); ++column)
        if (row != column) seconds[row][column] = static_cast<double>(use.record_bytes) / seconds[row][column];
    problem.link_seconds = std::make_shared<const LinkMatrix>(std::move(seconds));
  }
  problem.nodes.reserve(cluster.nodes.size());
  for (std::size_t i = 0; i < cluster.nodes.size(); ++i) {
    const ClusterNode& node = cluster.nodes[i];
    ProblemNode one;
    one.name = node.name;
    one.number = node.number;
    one.speed = node.speed;
    one.compute = by_compute ? node.compute : scaled_cost(use.shape, *node.speed);
    one.receive = node.receive;
    if (use.memory_caps && node.memory_bytes) one.max_records = use.records_in(*node.memory_bytes);
    if (one.max_records < 1)
      throw PlanError(fmt::format("{}node '{}': a memory of {} bytes is too small to sort records of {} bytes in it",
                                  cluster.place_of(i), node.name, *node.memory_bytes, use.record_bytes));
    problem.nodes.push_back(std::move(one));
  }
  return problem;
}

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
  if (node.message_in_bytes_per_second) rank.message.in = 1 / *node.message_in_bytes_per_second;
  if (node.message_out_bytes_per_second) rank.message.out = 1 / *node.message_out_bytes_per_second;
  rank.rates = {node.link_in_bytes_per_second, node.link_out_bytes_per_second, node.disk_read_bytes_per_second,
                node.disk_write_bytes_per_second};
  if (node.memory_bytes) rank.memory_records = use.records_in(*node.memory_bytes);
  if (rank.memory_records == 0)
    throw PlanError(fmt::format("node '{}': a memory of {} bytes is too small to sort records of {} bytes in it",
                                node.name, *node.memory_bytes, use.record_bytes));
  return rank;
}

/// Checks that all nodes have a rate of messages or none has it.
void check_messages(const Cluster& cluster, std::optional<double> ClusterNode::*rate, std::string_view field) {
  const auto has = [&](std::size_t node) { return (cluster.nodes[node].*rate).has_value(); };
  for (std::size_t node = 1; node < cluster.nodes.size(); ++node)
    if (has(node) != has(0))
      throw NodeError(node,
                      fmt::format("only one of the nodes '{}' and '{}' has '{}': give it for all nodes or for none",
                                  cluster.nodes.front().name, cluster.nodes[node].name, field));
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
    check_messages(cluster, &ClusterNode::message_in_bytes_per_second, "message' or 'message_in");
    check_messages(cluster, &ClusterNode::message_out_bytes_per_second, "message' or 'message_out");
    for (std::size_t node = 0; node < cluster.nodes.size(); ++node) {
      const std::size_t host = hosts.emplace(cluster.nodes[node].name, hosts.size()).first->second;
      model.ranks.push_back(resources_at(cluster, node, host, use));
      if (!use.input_cached.empty()) model.ranks.back().input_cached = use.input_cached[node];
      if (!use.writes_directly.empty()) model.ranks.back().writes_directly = use.writes_directly[node];
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

}  // namespace hetsort::partition
