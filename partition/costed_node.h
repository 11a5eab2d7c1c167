// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What the solvers read of a node: its cost as shape / speed, and its limits.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "problem.h"

namespace hetsort::partition {

/// A cost, as shape / speed, and the limits l_i <= n_i <= u_i of a node. The shape outlives the view. Nodes that differ
/// in speed only point to one shape, so that a pass over many of them stays in the cache.
struct CostedNode {
  const CostFunction* shape = nullptr;
  std::int64_t low = 0;
  std::int64_t high = kNoCap;
  double speed = 1;

  double value(double records) const { return shape->value(records) / speed; }
  double inverse(double cost) const { return shape->inverse(cost * speed); }
  std::optional<double> derivative(double records) const {
    const std::optional<double> slope = shape->derivative(records);
    return slope ? std::optional(*slope / speed) : std::nullopt;
  }
  /// The largest whole number of records, at most `high`, that costs no more than `cost`.
  std::int64_t whole(double cost) const { return whole_inverse(*shape, cost * speed, high); }
};

/// The nodes by their compute costs, caps cut to N. Requires: a valid problem.
std::vector<CostedNode> costed_nodes(const Problem& problem);

}  // namespace hetsort::partition
