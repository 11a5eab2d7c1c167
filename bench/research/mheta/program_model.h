// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A program on the nodes of a cluster: all numbers that a prediction needs, ready to be multiplied.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/research/mheta/program.h"
#include "partition/cluster.h"
#include "partition/run/run_model.h"

namespace hetsort::research {

/// A node of the cluster, as far as the model needs it.
struct ProgramNode {
  std::string name;
  std::size_t host = 0;                  ///< nodes with the same number share link and disk while they stream
  std::optional<double> speed{};         ///< divides costs that are those of a node of speed 1; none = no such costs
  std::optional<double> memory_bytes{};  ///< none = all fits
  partition::DiskAndLinkRates rates{};
  partition::MessageSeconds message{};
  std::string place{};  ///< "grid.toml:3:1: ", for messages
};

/// Costs of one node whatever the section.
struct NodeOverheads {
  double memory_bytes = kUnlimited;
  double read = 0;
  double write = 0;
  double prefetch = 0;
  double send = 0;
  double receive = 0;
  partition::MessageSeconds message{};
  double link_in = 0;  ///< seconds for each byte, as the next one
  double link_out = 0;
};

class ProgramModel {
 public:
  /// Throws: PlanError that names file, line and field, or the node: a list of numbers that is not one for each node, a
  /// cost of speed 1 for a node without a speed, neighbours of a single node, memory that holds no block of each
  /// variable, no node.
  ProgramModel(Program program, std::vector<ProgramNode> nodes, const partition::SharedRates& shared = {});

  const Program& program() const { return program_; }
  std::size_t nodes() const { return names_.size(); }
  const std::string& name(std::size_t node) const { return names_[node]; }
  std::size_t host(std::size_t node) const { return hosts_[node]; }
  std::optional<double> speed(std::size_t node) const { return speeds_[node]; }
  const NodeOverheads& overheads(std::size_t node) const { return overheads_[node]; }
  const partition::SharedRates& shared() const { return shared_; }

  /// Processor seconds for `rows`. `stage` counts over all sections.
  double computing(std::size_t stage, std::size_t node, double rows) const {
    const StageCost& cost = stage_costs_[node * stages_ + stage];
    const double curve = cost.curve ? cost.curve->value(rows) * cost.curve_scale : 0.0;
    return cost.fixed + cost.per_row * rows + curve;
  }
  /// Seconds to read a row of a variable (the whole variable if it is replicated): r(m) of equation 5.1; w(m) likewise.
  double read_seconds(std::size_t variable, std::size_t node) const {
    return transfers_[node * program_.variables.size() + variable].read;
  }
  double write_seconds(std::size_t variable, std::size_t node) const {
    return transfers_[node * program_.variables.size() + variable].write;
  }
  double reduce_seconds(std::size_t section, std::size_t node) const {
    return reduce_[node * program_.sections.size() + section];
  }
  /// Variables in the order in which memory keeps them: those that an iteration uses most often first, then the smaller
  /// ones. Files come last: memory never keeps them.
  const std::vector<std::size_t>& keep_order() const { return keep_order_; }
  /// The place of a variable in keep_order().
  std::size_t keep_place(std::size_t variable) const { return keep_place_[variable]; }
  /// Blocks that memory holds of a variable while a stage passes over it: 2 if the next one is read meanwhile.
  double buffers(std::size_t variable) const { return buffers_[variable]; }
  double start_seconds() const { return start_seconds_; }
  void set_start_seconds(double seconds) { start_seconds_ = seconds; }

 private:
  struct StageCost {
    double per_row = 0;
    double fixed = 0;
    const partition::CostFunction* curve = nullptr;  ///< owned by the program
    double curve_scale = 1;
  };
  struct Transfer {
    double read = 0;
    double write = 0;
  };
  void check_node(const ProgramNode& node) const;
  void add_node(const ProgramNode& node, std::size_t place);
  void order_variables();

  Program program_;
  std::size_t stages_ = 0;
  std::vector<std::string> names_;
  std::vector<std::size_t> hosts_;
  std::vector<std::optional<double>> speeds_;
  std::vector<NodeOverheads> overheads_;
  partition::SharedRates shared_;
  std::vector<StageCost> stage_costs_;  // costs node by node; likewise the next two
  std::vector<Transfer> transfers_;
  std::vector<double> reduce_;
  std::vector<std::size_t> keep_order_;
  std::vector<std::size_t> keep_place_;
  std::vector<double> buffers_;
  std::vector<bool> streamed_;  // whether all stages stream the variable, so that small blocks suffice
  double start_seconds_ = 0;
};

/// The program on the nodes of a cluster file. Each node is a host of its own.
/// Throws: PlanError as the constructor, and for a node whose memory is limited but whose disk is not known.
ProgramModel program_model(Program program, const partition::Cluster& cluster);

}  // namespace hetsort::research
