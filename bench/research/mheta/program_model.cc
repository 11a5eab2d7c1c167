// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/research/mheta/program_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "partition/error.h"

namespace hetsort::research {
namespace {

void check_numbers(const NodeNumbers& numbers, std::size_t nodes) {
  if (!numbers.by_node || numbers.values.size() == nodes) return;
  throw partition::PlanError(
      fmt::format("{}{} has {} numbers for {} nodes", numbers.place, numbers.field, numbers.values.size(), nodes));
}

void check_program_numbers(const Program& program, std::size_t nodes) {
  for (const NodeNumbers* numbers : {&program.read_overhead, &program.write_overhead, &program.prefetch_overhead,
                                     &program.send_overhead, &program.receive_overhead})
    check_numbers(*numbers, nodes);
  for (const ProgramVariable& variable : program.variables) {
    if (variable.read_seconds) check_numbers(*variable.read_seconds, nodes);
    if (variable.write_seconds) check_numbers(*variable.write_seconds, nodes);
  }
  for (const ProgramSection& section : program.sections) {
    check_numbers(section.reduce, nodes);
    for (const ProgramStage& stage : section.stages) {
      check_numbers(stage.per_row, nodes);
      check_numbers(stage.fixed, nodes);
    }
    const bool neighbours =
        section.communication == Communication::kNearestNeighbour || section.communication == Communication::kPipeline;
    if (neighbours && nodes == 1)
      throw partition::PlanError(fmt::format("{}communication: a single node has no neighbours", section.place));
  }
}

/// Converts costs of a node of speed 1 to those of this node.
double on_node(const NodeNumbers& numbers, std::size_t place, const ProgramNode& node) {
  const double value = numbers.of(place);
  if (numbers.by_node || value == 0) return value;
  if (!node.speed)
    throw partition::PlanError(fmt::format("{}node '{}' has no speed, and {}{} is a number for a node of speed 1",
                                           node.place, node.name, numbers.place, numbers.field));
  return value / *node.speed;
}

double seconds_of_transfer(const std::optional<NodeNumbers>& measured, std::size_t place, double bytes,
                           const std::optional<double>& rate) {
  if (measured) return measured->of(place);
  return rate ? bytes / *rate : 0.0;
}

double seconds_per_byte(const std::optional<double>& rate) { return rate ? 1 / *rate : 0.0; }

}  // namespace

ProgramModel::ProgramModel(Program program, std::vector<ProgramNode> nodes, const partition::SharedRates& shared)
    : program_(std::move(program)), shared_(shared) {
  if (nodes.empty()) throw partition::PlanError("there is no node to run the program");
  check_program_numbers(program_, nodes.size());
  for (const ProgramSection& section : program_.sections) stages_ += section.stages.size();
  order_variables();
  for (std::size_t i = 0; i < nodes.size(); ++i) add_node(nodes[i], i);
}

void ProgramModel::order_variables() {
  std::vector<int> uses(program_.variables.size(), 0);
  buffers_.assign(program_.variables.size(), 1.0);
  streamed_.assign(program_.variables.size(), true);
  for (const ProgramSection& section : program_.sections) {
    for (const ProgramStage& stage : section.stages) {
      for (const std::size_t variable : stage.reads) {
        ++uses[variable];
        if (stage.io != IoMode::kStreaming) streamed_[variable] = false;
        if (stage.io == IoMode::kPrefetch) buffers_[variable] = 2;
      }
      for (const std::size_t variable : stage.writes) {
        ++uses[variable];
        if (stage.io != IoMode::kStreaming) streamed_[variable] = false;
      }
    }
  }
  keep_order_.resize(program_.variables.size());
  std::iota(keep_order_.begin(), keep_order_.end(), std::size_t{0});
  const auto size = [&](const ProgramVariable& variable) {
    return variable.distributed ? variable.bytes * static_cast<double>(program_.rows) : variable.bytes;
  };
  std::ranges::stable_sort(keep_order_, [&](std::size_t a, std::size_t b) {
    const ProgramVariable& left = program_.variables[a];
    const ProgramVariable& right = program_.variables[b];
    if ((left.storage == Storage::kFile) != (right.storage == Storage::kFile)) return right.storage == Storage::kFile;
    return uses[a] != uses[b] ? uses[a] > uses[b] : size(left) < size(right);
  });
  keep_place_.resize(keep_order_.size());
  for (std::size_t place = 0; place < keep_order_.size(); ++place) keep_place_[keep_order_[place]] = place;
}

void ProgramModel::check_node(const ProgramNode& node) const {
  double needed = 0;
  for (std::size_t i = 0; i < program_.variables.size(); ++i) {
    const ProgramVariable& variable = program_.variables[i];
    if (variable.distributed && variable.storage != Storage::kExcess && !streamed_[i])
      needed += buffers_[i] * variable.bytes;
  }
  if (needed > 0 && node.memory_bytes && *node.memory_bytes < needed)
    throw partition::PlanError(fmt::format(
        "{}node '{}': a memory of {:.0f} bytes holds no row of each variable of the program; {:.0f} bytes are needed",
        node.place, node.name, *node.memory_bytes, needed));
}

void ProgramModel::add_node(const ProgramNode& node, std::size_t place) {
  check_node(node);
  names_.push_back(node.name);
  hosts_.push_back(node.host);
  speeds_.push_back(node.speed);
  overheads_.push_back({.memory_bytes = node.memory_bytes.value_or(kUnlimited),
                        .read = program_.read_overhead.of(place),
                        .write = program_.write_overhead.of(place),
                        .prefetch = program_.prefetch_overhead.of(place),
                        .send = program_.send_overhead.of(place),
                        .receive = program_.receive_overhead.of(place),
                        .message = node.message,
                        .link_in = seconds_per_byte(node.rates.link_in),
                        .link_out = seconds_per_byte(node.rates.link_out)});
  for (const ProgramVariable& variable : program_.variables)
    transfers_.push_back({seconds_of_transfer(variable.read_seconds, place, variable.bytes, node.rates.disk_read),
                          seconds_of_transfer(variable.write_seconds, place, variable.bytes, node.rates.disk_write)});
  for (const ProgramSection& section : program_.sections) {
    reduce_.push_back(on_node(section.reduce, place, node));
    for (const ProgramStage& stage : section.stages) {
      StageCost cost{.per_row = on_node(stage.per_row, place, node), .fixed = on_node(stage.fixed, place, node)};
      if (!stage.costs.empty()) cost.curve = stage.costs[stage.cost_by_node ? place : 0].get();
      if (cost.curve && !stage.cost_by_node) {
        const NodeNumbers one{.values = {1.0}, .field = "cost", .place = section.place};
        cost.curve_scale = on_node(one, place, node);
      }
      stage_costs_.push_back(cost);
    }
  }
}

namespace {

/// Whether the program may read or write a disk whose speed only the cluster file can say.
bool needs_disk(const Program& program, bool limited_memory) {
  return std::ranges::any_of(program.variables, [&](const ProgramVariable& variable) {
    const bool measured = variable.read_seconds && (variable.read_only || variable.write_seconds);
    return (variable.storage == Storage::kFile || limited_memory) && !measured;
  });
}

}  // namespace

ProgramModel program_model(Program program, const partition::Cluster& cluster) {
  std::vector<ProgramNode> nodes;
  nodes.reserve(cluster.nodes.size());
  for (std::size_t i = 0; i < cluster.nodes.size(); ++i) {
    const partition::ClusterNode& from = cluster.nodes[i];
    ProgramNode node{.name = from.name, .host = i};
    node.place = cluster.place_of(i);
    node.speed = from.speed;
    if (from.memory_bytes) node.memory_bytes = static_cast<double>(*from.memory_bytes);
    if (from.memory_bytes == 0)
      throw partition::PlanError(fmt::format("{}node '{}' has no memory", node.place, node.name));
    node.rates = {from.link_in_bytes_per_second, from.link_out_bytes_per_second, from.disk_read_bytes_per_second,
                  from.disk_write_bytes_per_second};
    if (from.message_in_bytes_per_second) node.message.in = 1 / *from.message_in_bytes_per_second;
    if (from.message_out_bytes_per_second) node.message.out = 1 / *from.message_out_bytes_per_second;
    if (needs_disk(program, from.memory_bytes.has_value()) && (!node.rates.disk_read || !node.rates.disk_write))
      throw partition::PlanError(
          fmt::format("{}node '{}' needs disk_read and disk_write: variables of '{}' can be on its disk", node.place,
                      node.name, program.name));
    nodes.push_back(std::move(node));
  }
  partition::SharedRates shared{cluster.shared_link_bytes_per_second, cluster.shared_disk_read_bytes_per_second,
                                cluster.shared_disk_write_bytes_per_second};
  ProgramModel model(std::move(program), std::move(nodes), shared);
  model.set_start_seconds(cluster.start_seconds);
  return model;
}

}  // namespace hetsort::research
