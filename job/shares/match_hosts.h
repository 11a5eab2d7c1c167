// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Which node of a cluster file describes which host.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "partition/cluster.h"

namespace hetsort::job {

/// For each host the place of a node that has its name, each node once. Upper and lower case are the same. If one of
/// two names has no domain, their first labels are compared; nodes that have the whole name come first.
std::vector<std::optional<std::size_t>> match_hosts(const partition::Cluster& cluster,
                                                    const std::vector<std::string>& hosts);

}  // namespace hetsort::job
