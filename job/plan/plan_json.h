// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Plans for machines: "hetsort.plan/1" and "hetsort.plans/1", one JSON object on one line.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "partition/cluster.h"
#include "partition/plan.h"

namespace hetsort::job {

/// The name of a node; with its number if others have the same name, else the number is 0.
std::string node_label(const std::string& name, std::size_t number);

/// `cluster_nodes`: those of a cluster file, whose limits stand in "cluster".
std::string plan_json(const partition::Plan& plan, std::span<const partition::ClusterNode> cluster_nodes = {});
std::string comparison_json(const partition::Comparison& comparison);

}  // namespace hetsort::job
