// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "job/shares/match_hosts.h"

#include <algorithm>
#include <string_view>

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

}  // namespace hetsort::job
