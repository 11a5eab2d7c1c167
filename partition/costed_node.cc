// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/costed_node.h"

#include <algorithm>

namespace hetsort::partition {

std::vector<CostedNode> costed_nodes(const Problem& problem) {
  std::vector<CostedNode> nodes;
  nodes.reserve(problem.nodes.size());
  for (const ProblemNode& node : problem.nodes) {
    const bool by_shape = problem.speed_shape && node.speed;
    nodes.push_back({by_shape ? problem.speed_shape.get() : node.compute.get(), node.min_records,
                     std::min(node.max_records, problem.records), by_shape ? *node.speed : 1.0});
  }
  return nodes;
}

}  // namespace hetsort::partition
