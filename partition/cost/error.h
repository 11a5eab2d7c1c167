// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace hetsort::partition {

/// A request the planner cannot answer: costs or speeds that make no sense, caps that cannot hold the records, an
/// unknown strategy, a cluster file with a mistake. what() is one sentence for the user, without a trailing newline.
class PlanError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A PlanError about one node of a cluster, a problem or a model, by its place there.
class NodeError : public PlanError {
 public:
  NodeError(std::size_t node, const std::string& message) : PlanError(message), node_(node) {}
  std::size_t node() const { return node_; }

 private:
  std::size_t node_;
};

}  // namespace hetsort::partition
