// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Which node of a cluster file describes which host.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "partition/cluster.h"

namespace hetsort::job {

/// For each host the place of a node that has its name, each node once. Upper and lower case are the same. If one of
/// two names has no domain, their first labels are compared; nodes that have the whole name come first.
std::vector<std::optional<std::size_t>> match_hosts(const partition::Cluster& cluster,
                                                    const std::vector<std::string>& hosts);

/// The node of each rank of a job.
struct PlacesOfRanks {
  std::vector<std::size_t> nodes;
  bool by_name = true;  ///< nodes were matched by host name; otherwise by their order in the file
};
/// Matches nodes to ranks by host name, or in order if no name fits and there are as many nodes as ranks. `path` names
/// the file in messages. Throws: RequestError if some rank has no node.
PlacesOfRanks places_of_ranks(const partition::Cluster& cluster, const std::string& path,
                              const comm::Communicator& ranks);

}  // namespace hetsort::job
