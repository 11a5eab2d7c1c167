// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "partition/cluster.h"
#include "partition/strategies/auto_strategy.h"

namespace hetsort::partition::test {
namespace {

const std::string kCosts =
    "compute = { kind = 'linear', per_record = 1e-6 }\nmerge = { kind = 'linear', per_record = 1e-6 }\n";

Problem problem_of(const std::string& text, const ClusterUse& use = {}) {
  const Cluster cluster = parse_cluster(text, "c.toml");
  Problem problem = problem_from_cluster(cluster, 1000, use);
  add_run_model(problem, cluster, use);
  EXPECT_EQ(problem.run.has_value(), problem.run_missing.empty());
  return problem;
}

/// Two nodes of one host each that have these further fields.
std::string missing_of(const std::string& first, const std::string& second) {
  const std::string text = "[[node]]\n" + kCosts + first + "[[node]]\n" + kCosts + second;
  return problem_of(text).run_missing;
}

TEST(RunOfCluster, names_the_place_of_a_node_without_a_rate_that_others_have) {
  for (const std::string field : {"bandwidth_in", "bandwidth_out", "disk_read", "disk_write", "memory"}) {
    const std::string line = field + " = '100MB'\n";
    EXPECT_TRUE(missing_of(line, "").starts_with("c.toml:5:1: node '1' has no '")) << missing_of(line, "");
    EXPECT_TRUE(missing_of("", line).starts_with("c.toml:1:1: node '0' has no '")) << missing_of("", line);
    EXPECT_EQ(missing_of(line, line), "");
  }
  EXPECT_EQ(
      missing_of("message = '1GB/s'\n", ""),
      "c.toml:5:1: only one of the nodes '0' and '1' has 'message' or 'message_in': give it for all nodes or for none");
  EXPECT_EQ(problem_of("[[node]]\n" + kCosts + "[[node]]\ncompute = { kind = 'linear', per_record = 1 }\n").run_missing,
            "c.toml:4:1: node '1' has no merge cost");
}

TEST(RunOfCluster, takes_the_records_that_fit_memory_from_the_caller) {
  const ClusterUse use{.records_in_memory = [](std::int64_t bytes) { return bytes / 1000; }};
  const std::string text = "[[node]]\n" + kCosts + "memory = '5000'\n";
  EXPECT_EQ(problem_of(text, use).nodes[0].resources->memory_records, 5);
  EXPECT_EQ(problem_of(text).nodes[0].resources->memory_records, 50);
  EXPECT_EQ(problem_of("[[node]]\n" + kCosts + "memory = '99'\n", {.memory_caps = false}).run_missing,
            "c.toml:1:1: node '0': a memory of 99 bytes is too small to sort records of 100 bytes in it");
}

TEST(RunOfCluster, takes_the_cached_part_of_the_input_from_the_caller) {
  const std::string one = "[[node]]\n" + kCosts;
  const Problem problem = problem_of(one + one, {.input_cached = {0.25, 1}});
  EXPECT_EQ(problem.nodes[0].resources->input_cached, 0.25);
  EXPECT_EQ(problem.nodes[1].resources->input_cached, 1);
  EXPECT_EQ(problem_of(one).nodes[0].resources->input_cached, 0);
}

TEST(RunOfCluster, does_not_wait_for_the_disk_if_the_output_is_not_synced) {
  const std::string text = "publish = 0.5\n[[node]]\n" + kCosts;
  EXPECT_EQ(problem_of(text).run->publish_seconds, 0.5);
  EXPECT_EQ(problem_of(text, {.synced = false}).run->publish_seconds, 0);
  EXPECT_FALSE(problem_of(text, {.synced = false}).run->synced);
}

TEST(Auto, plans_whole_runs_where_the_cluster_file_describes_them) {
  const std::string one = "[[node]]\n" + kCosts;
  EXPECT_EQ(choose_for_shares(problem_of(one + one)).strategy.text, "phases");
  EXPECT_EQ(choose_for_shares(problem_of(one + one + "disk_read = '1MB/s'\n")).strategy.text, "threshold");
  const std::string falling =
      "[[node]]\ncompute = { kind = 'table', points = [[100, 2], [200, 1]] }\n"
      "merge = { kind = 'linear', per_record = 1e-6 }\n";
  EXPECT_EQ(choose_for_shares(problem_of(one + falling)).strategy.text, "dp");
  EXPECT_NE(problem_of(one + falling).run_missing.find("c.toml:4:1: node '1': its cost of forming runs decreases"),
            std::string::npos);
}

}  // namespace
}  // namespace hetsort::partition::test
