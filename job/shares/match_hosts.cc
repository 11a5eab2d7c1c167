// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "job/shares/match_hosts.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "job/request/request_error.h"

namespace hetsort::job {

namespace {

bool same_ignoring_case(std::string_view one, std::string_view other) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(one, other, {}, lower, lower);
}

bool same_first_label(std::string_view one, std::string_view other) {
  const bool both_have_domains = one.find('.') != one.npos && other.find('.') != other.npos;
  return !both_have_domains && same_ignoring_case(one.substr(0, one.find('.')), other.substr(0, other.find('.')));
}

}  // namespace

std::vector<std::optional<std::size_t>> match_hosts(const partition::Cluster& cluster,
                                                    const std::vector<std::string>& hosts) {
  std::vector<bool> taken(cluster.nodes.size(), false);
  std::vector<std::optional<std::size_t>> node_of(hosts.size());
  for (const auto& same : {same_ignoring_case, same_first_label})
    for (std::size_t host = 0; host < hosts.size(); ++host)
      for (std::size_t node = 0; node < cluster.nodes.size() && !node_of[host]; ++node) {
        if (taken[node] || !same(cluster.nodes[node].name, hosts[host])) continue;
        node_of[host] = node;
        taken[node] = true;
      }
  return node_of;
}

PlacesOfRanks places_of_ranks(const partition::Cluster& cluster, const std::string& path,
                              const comm::Communicator& ranks) {
  std::vector<std::string> hosts;
  hosts.reserve(static_cast<std::size_t>(ranks.size()));
  for (int rank = 0; rank < ranks.size(); ++rank) hosts.push_back(ranks.host(rank));
  std::vector<std::optional<std::size_t>> node_of = match_hosts(cluster, hosts);
  PlacesOfRanks found{.nodes = {},
                      .by_name = std::ranges::any_of(node_of, [](const auto& node) { return node.has_value(); })};
  if (!found.by_name && cluster.nodes.size() == node_of.size())
    for (std::size_t rank = 0; rank < node_of.size(); ++rank) node_of[rank] = rank;
  for (std::size_t rank = 0; rank < node_of.size(); ++rank) {
    if (!node_of[rank])
      throw RequestError(fmt::format(
          "{}: has {} nodes, and none is left for rank {} on host {}; nodes are matched by name, or, when no "
          "name fits, in order if there are as many as ranks",
          path, cluster.nodes.size(), rank, ranks.host(static_cast<int>(rank))));
    found.nodes.push_back(*node_of[rank]);
  }
  return found;
}

}  // namespace hetsort::job
