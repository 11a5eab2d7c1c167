// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The model of a whole run for the nodes of a problem, as far as a cluster file describes it.
#pragma once

#include <cstdint>
#include <vector>

#include "../cluster.h"
#include "../problem.h"
#include "run_model.h"

namespace hetsort::partition {

/// Adds the resources of the nodes to a problem that problem_from_cluster made of the same file. Nodes of one name are
/// ranks of one host. A rate that no node has is unlimited. If the file does not suffice, problem.run_missing says why,
/// with the place in the file.
void add_run_model(Problem& problem, const Cluster& cluster, const ClusterUse& use);

/// The whole model, with the caps of the problem. Requires: problem.run. Complexity: O(nodes).
RunModel run_model_of(const Problem& problem);

/// The records that each node has of its own; empty if the input is shared.
std::vector<std::int64_t> given_input(const Problem& problem);

}  // namespace hetsort::partition
