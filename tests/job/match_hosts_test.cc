// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "job/shares/match_hosts.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hetsort::job::test {
namespace {

using Names = std::vector<std::string>;

/// The places of the hosts' nodes; -1 for none.
std::vector<int> match(const Names& nodes, const Names& hosts) {
  partition::Cluster cluster;
  for (const std::string& name : nodes) cluster.nodes.emplace_back().name = name;
  std::vector<int> places;
  for (const auto& node : match_hosts(cluster, hosts)) places.push_back(node ? static_cast<int>(*node) : -1);
  return places;
}

using NodePlaces = std::vector<int>;

TEST(MatchHosts, ignores_case_and_a_domain_that_one_side_lacks) {
  EXPECT_EQ(match({"slow", "FAST"}, {"fast", "slow"}), (NodePlaces{1, 0}));
  EXPECT_EQ(match({"slow", "fast.example.org"}, {"fast", "Slow.example.org"}), (NodePlaces{1, 0}));
  EXPECT_EQ(match({"fast.example.org"}, {"fast.example.net"}), (NodePlaces{-1}));
  EXPECT_EQ(match({"fast"}, {"faster"}), (NodePlaces{-1}));
}

TEST(MatchHosts, gives_each_node_once_and_whole_names_first) {
  EXPECT_EQ(match({"fast", "fast"}, {"fast", "fast", "fast"}), (NodePlaces{0, 1, -1}));
  EXPECT_EQ(match({"fast.example.org", "fast"}, {"fast"}), (NodePlaces{1}));
  EXPECT_EQ(match({"fast.example.org", "fast.example.net"}, {"fast", "fast.example.org"}), (NodePlaces{1, 0}));
}

}  // namespace
}  // namespace hetsort::job::test
