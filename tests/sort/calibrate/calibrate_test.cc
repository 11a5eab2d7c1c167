// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What a calibration measures and writes, and how long it takes.
#include "sort/calibrate/calibrate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "partition/cluster.h"
#include "partition/plan.h"
#include "sort/calibrate/calibration_text.h"
#include "tests/sort/calibrate/calibrate_world.h"

namespace hetsort::sort::test {
namespace {

std::string text_of(const Calibration& calibration) { return cluster_text(calibration, {"2006-01-31", "1.0", 100}); }

partition::Cluster parsed(const Calibration& calibration) {
  return partition::parse_cluster(text_of(calibration), "calibrated.toml");
}

/// A plan with the calibrated file. Equal shares of the input if it is given.
partition::Plan plan_for(const Calibration& calibration, std::int64_t records, const std::string& strategy,
                         bool given_input = false) {
  const partition::Cluster cluster = parsed(calibration);
  const partition::ClusterUse use{.memory_caps = false};
  partition::Problem problem = partition::problem_from_cluster(cluster, records, use);
  if (given_input)
    for (partition::ProblemNode& node : problem.nodes)
      node.input_records = records / static_cast<std::int64_t>(problem.nodes.size());
  partition::add_run_model(problem, cluster, use);
  EXPECT_EQ(problem.run_missing, "");
  return partition::make_plan(problem, strategy);
}

/// Predictions by the file are what the simulated nodes take, with shares by every strategy.
void expect_right_predictions(const World& world, const Calibration& calibration, double within) {
  partition::RunModel model = world.model;
  const auto ranks = static_cast<std::int64_t>(model.ranks.size());
  model.start_seconds += world.first_sort_extra;
  for (const std::int64_t records : {200'000 * ranks, 5'000'000 * ranks})
    for (const std::string strategy : {"equal", "proportional", "phases"})
      for (const bool given : {false, true}) {
        const partition::Plan plan = plan_for(calibration, records, strategy, given);
        std::vector<std::int64_t> input;
        std::vector<std::int64_t> output;
        for (const partition::NodePlan& node : plan.nodes) {
          input.push_back(node.input);
          output.push_back(node.records);
        }
        const double truth = partition::predict_run(model, input, output).seconds;
        EXPECT_NEAR(plan.run->seconds, truth, within * truth)
            << records << ' ' << strategy << (given ? " of given input\n" : "\n") << text_of(calibration);
      }
}

void give_links(World& world, const std::vector<double>& rates) {
  for (std::size_t rank = 0; rank < rates.size(); ++rank)
    world.model.ranks[rank].rates.link_in = world.model.ranks[rank].rates.link_out = rates[rank];
}

TEST(Calibrate, processors_alone_are_predicted) {
  const World world = world_of({1.5e6, 1.5e6, 1e6, 0.5e6});
  const Outcome outcome = calibrate_world(world, 20);
  expect_right_predictions(world, outcome.calibration, 0.05);
  EXPECT_LE(outcome.seconds, 22);
  EXPECT_GT(outcome.most_records, 150'000U);
}

TEST(Calibrate, unequal_links_are_predicted) {
  World world = world_of({2e6, 2e6, 2e6, 2e6});
  give_links(world, {125e6, 125e6, 31e6, 31e6});
  const Calibration calibration = calibrate_world(world, 20).calibration;
  expect_right_predictions(world, calibration, 0.05);
  const partition::Plan plan = plan_for(calibration, 10'000'000, "phases", true);
  EXPECT_EQ(plan.run->exchange[3].bound, partition::Resource::kLinkOut) << text_of(calibration);
}

TEST(Calibrate, a_fast_link_is_measured_to_several_slow_ones) {
  World world = world_of({2e6, 2e6, 2e6, 2e6});
  give_links(world, {125e6, 31e6, 31e6, 31e6});
  world.model.ranks[0].rates.link_in = 60e6;
  const Calibration calibration = calibrate_world(world, 20).calibration;
  EXPECT_NEAR(calibration.nodes[0].link_out, 93e6, 1e6);
  EXPECT_NEAR(calibration.nodes[0].link_in, 60e6, 1e6);
  EXPECT_NEAR(calibration.nodes[0].links[1], 31e6, 1e6);
  EXPECT_EQ(calibration.nodes[0].links[0], 0);
  EXPECT_EQ(calibration.shared_link, 0);
}

TEST(Calibrate, a_link_is_measured_until_the_last_of_several_flows_ends) {
  World world = world_of({2e6, 2e6, 2e6, 2e6});
  give_links(world, {125e6, 125e6, 125e6, 31e6});
  world.head_start = 0.4;
  EXPECT_NEAR(calibrate_world(world, 20).calibration.nodes[3].link_in, 31e6, 1e6);
}

TEST(Calibrate, a_link_is_measured_while_its_host_sends_and_receives) {
  World world = world_of({2e6, 2e6, 2e6, 2e6});
  give_links(world, {125e6, 125e6, 125e6, 31e6});
  world.half_duplex = true;
  const NodeMeasurements node = calibrate_world(world, 20).calibration.nodes[3];
  EXPECT_NEAR(node.link_in, 15.5e6, 1e6);
  EXPECT_NEAR(node.link_out, 15.5e6, 1e6);
}

TEST(Calibrate, links_of_one_kind_have_one_rate) {
  World world = world_of({2e6, 2e6, 2e6, 2e6});
  give_links(world, {100e6, 94e6, 70e6, 64e6});
  const Calibration calibration = calibrate_world(world, 20).calibration;
  EXPECT_NEAR(calibration.nodes[0].link_in, 97e6, 1e6);
  EXPECT_NEAR(calibration.nodes[2].link_in, 67e6, 1e6);
  for (const std::size_t first : {0, 2}) {
    EXPECT_EQ(calibration.nodes[first].link_in, calibration.nodes[first + 1].link_in);
    EXPECT_EQ(calibration.nodes[first].link_out, calibration.nodes[first + 1].link_out);
  }
}

TEST(Calibrate, links_that_are_slower_in_sorts_are_predicted) {
  World world = world_of({2e6, 2e6, 2e6, 2e6});
  give_links(world, {125e6, 125e6, 31e6, 31e6});
  world.link_waste = 1.4;
  const Calibration calibration = calibrate_world(world, 20).calibration;
  EXPECT_NEAR(calibration.nodes[3].link_in, 31e6 / 1.4, 1e6);
  world.model = with_slower_links(world.model, world.link_waste);
  expect_right_predictions(world, calibration, 0.05);
}

TEST(Calibrate, slow_links_shorten_all_check_sorts) {
  World world = world_of({2e6, 2e6});
  give_links(world, {3e6, 3e6});
  const std::vector<SortCheck> checks = calibrate_world(world, 20).calibration.checks;
  ASSERT_EQ(checks[2].shares, "equal, half size");
  EXPECT_EQ(checks[2].records, checks[0].records / 2);
}

TEST(Calibrate, a_link_that_all_hosts_share_is_found) {
  World world = world_of({2e6, 2e6, 2e6, 2e6});
  give_links(world, {125e6, 125e6, 125e6, 125e6});
  world.model.shared.link = 150e6;
  const Calibration calibration = calibrate_world(world, 20).calibration;
  EXPECT_NEAR(calibration.shared_link, 150e6, 1e6);
  expect_right_predictions(world, calibration, 0.05);
}

TEST(Calibrate, unequal_disks_are_predicted) {
  World world = world_of({2e6, 2e6, 2e6});
  for (std::size_t rank = 0; rank < 3; ++rank)
    world.model.ranks[rank].rates.disk_read = world.model.ranks[rank].rates.disk_write = rank == 2 ? 40e6 : 500e6;
  expect_right_predictions(world, calibrate_world(world, 20).calibration, 0.05);
}

/// Sending a byte costs a 150th part of merging a record, and receiving one a 250th.
void give_messages(World& world) {
  for (partition::RankResources& rank : world.model.ranks)
    rank.message = {.in = rank.merge_seconds / 250, .out = rank.merge_seconds / 150};
}

/// Whether the calibration has found the message costs of this rank.
void expect_messages(const World& world, const Calibration& calibration, std::size_t rank) {
  const partition::MessageSeconds& truth = world.model.ranks[rank].message;
  EXPECT_NEAR(calibration.nodes[rank].message.in, truth.in, 0.1 * truth.in) << text_of(calibration);
  EXPECT_NEAR(calibration.nodes[rank].message.out, truth.out, 0.1 * truth.out) << text_of(calibration);
}

TEST(Calibrate, the_processors_cost_of_messages_is_found) {
  World world = world_of({1e6, 1e6, 0.5e6});
  give_messages(world);
  const Calibration calibration = calibrate_world(world, 20).calibration;
  expect_right_predictions(world, calibration, 0.05);
  expect_messages(world, calibration, 2);
}

TEST(Calibrate, a_slow_disk_does_not_hide_the_processors_cost_of_messages) {
  World world = world_of({1e6, 1e6});
  give_messages(world);
  for (partition::RankResources& rank : world.model.ranks) {
    rank.rates.disk_read = 1e9;
    rank.rates.disk_write = 20e6;
  }
  expect_messages(world, calibrate_world(world, 20).calibration, 0);
}

TEST(Calibrate, links_do_not_hide_the_processors_cost_of_messages_from_a_quota) {
  World world = world_of({1e6, 1e6, 0.5e6, 0.5e6});
  world.quota_error = 0.8;
  give_messages(world);
  give_links(world, {5e6, 5e6, 5e6, 5e6});
  expect_messages(world, calibrate_world(world, 60).calibration, 3);
}

TEST(Calibrate, a_rank_with_a_quota_costs_what_its_processor_time_says) {
  World world = world_of({1.5e6, 1.5e6, 1e6, 1e6});
  world.quota_error = 0.6;
  expect_right_predictions(world, calibrate_world(world, 20).calibration, 0.05);
}

TEST(Calibrate, a_rank_with_a_quota_forms_runs_as_fast_as_beside_the_others) {
  World world = world_of({1e6, 2e6, 2e6});
  world.quota_error = 0.5;
  world.alone_error = 2;
  expect_right_predictions(world, calibrate_world(world, 20).calibration, 0.05);
}

TEST(Calibrate, the_checks_compare_predictions_and_sorts_that_differ_in_what_binds) {
  World world = world_of({1.5e6, 1e6});
  give_links(world, {40e6, 40e6});
  const Calibration calibration = calibrate_world(world, 20).calibration;
  ASSERT_EQ(calibration.checks.size(), 5U);
  for (const SortCheck& check : calibration.checks)
    EXPECT_NEAR(check.predicted, check.measured.whole, 0.05 * check.predicted) << check.shares;
  EXPECT_GT(calibration.checks.front().records, 200'000U);
  EXPECT_GT(calibrate_world(world_of({1.5e6, 1e6}), 20).calibration.checks.back().records, 500'000U);
  EXPECT_EQ(calibration.checks.back().shares, "phases, synced");
  EXPECT_NE(text_of(calibration).find("skewed output"), std::string::npos);
}

TEST(Calibrate, a_link_that_is_too_fast_to_be_measured_is_marked_and_has_no_absurd_rate) {
  World world = world_of({1e6, 1e6, 1e6});
  give_links(world, {1e15, 1e15, 125e6});
  const Calibration calibration = calibrate_world(world, 20).calibration;
  ASSERT_EQ(calibration.too_fast.size(), 2U);
  EXPECT_EQ(calibration.too_fast[0].from + calibration.too_fast[0].to, 1);
  EXPECT_GT(calibration.nodes[0].links[1], 1e9);
  EXPECT_LT(calibration.nodes[0].links[1], 1e12);
  EXPECT_NEAR(calibration.nodes[0].links[2], 125e6, 1e6);
  EXPECT_NE(text_of(calibration).find("# The link from node 0 to node 1 was too fast to be measured"),
            std::string::npos);
  EXPECT_EQ(parsed(calibration).root(), 0U);
}

TEST(Calibrate, one_process_is_measured_without_links) {
  const World world = world_of({2e6});
  const Calibration calibration = calibrate_world(world, 20).calibration;
  EXPECT_EQ(calibration.nodes[0].link_out, 0);
  expect_right_predictions(world, calibration, 0.05);
}

TEST(Calibrate, ranks_of_one_host_share_its_disk_and_use_no_link) {
  World world = world_of({1e6, 1e6, 1e6, 1e6});
  world.ranks_per_host = 2;
  for (std::size_t rank = 0; rank < 4; ++rank) {
    world.model.ranks[rank].host = rank / 2;
    world.model.ranks[rank].rates.disk_read = world.model.ranks[rank].rates.disk_write = 80e6;
  }
  give_links(world, {60e6, 60e6, 60e6, 60e6});
  const Calibration calibration = calibrate_world(world, 20).calibration;
  EXPECT_NEAR(calibration.nodes[1].disk.read_bytes_per_second, 80e6, 1);
  EXPECT_NEAR(calibration.nodes[1].link_out, 60e6, 1e6);
  expect_right_predictions(world, calibration, 0.05);
}

TEST(Calibrate, noise_of_some_percent_changes_predictions_by_no_more) {
  World world = world_of({1.5e6, 1e6, 1e6});
  world.noise = 0.06;
  expect_right_predictions(world, calibrate_world(world, 20).calibration, 0.1);
}

TEST(Calibrate, a_sort_whose_processors_are_taken_away_does_not_count) {
  World world = world_of({1.5e6, 1e6, 1e6});
  world.stolen_times = 8;
  expect_right_predictions(world, calibrate_world(world, 60).calibration, 0.05);
}

TEST(Calibrate, no_sort_has_more_records_than_fit_a_rank) {
  World world = world_of({1e6, 1e6, 1e6});
  world.max_records = {400'000, 30'000, 1};
  const Outcome outcome = calibrate_world(world, 20);
  EXPECT_FALSE(outcome.too_many);
  EXPECT_EQ(outcome.calibration.nodes[1].form.back().records, 30'000U);
  EXPECT_EQ(outcome.calibration.nodes[2].form.back().records, 1U);
}

TEST(Calibrate, the_time_that_is_asked_for_is_kept) {
  for (const double seconds : {2.0, 20.0, 60.0}) {
    World world = world_of({1e6, 1e6, 0.3e6, 0.2e6});
    give_links(world, {125e6, 125e6, 31e6, 12e6});
    EXPECT_LE(calibrate_world(world, seconds).seconds, 1.25 * seconds) << seconds;
  }
  // What the ranks sort alone would take half a minute over these links.
  World slow_links = world_of({2e6, 2e6});
  give_links(slow_links, {2e6, 2e6});
  EXPECT_LE(calibrate_world(slow_links, 20).seconds, 25);
}

TEST(CalibrationText, a_file_is_the_same_after_it_was_read) {
  World world = world_of({1.5e6, 1e6});
  give_links(world, {125e6, 125e6});
  Calibration calibration = calibrate_world(world, 20).calibration;
  calibration.nodes[0].facts.host = "a\"b\\c";
  const partition::Cluster cluster = parsed(calibration);
  EXPECT_EQ(cluster.nodes[0].name, "a\"b\\c");
  EXPECT_EQ(cluster.nodes[1].memory_bytes, std::int64_t{2} << 30);
  EXPECT_NEAR(*cluster.nodes[0].speed / *cluster.nodes[1].speed, 1.5, 0.02);
  EXPECT_NEAR(*cluster.nodes[1].disk_write_bytes_per_second, 1e12, 1e6);
  EXPECT_NEAR(cluster.start_seconds, 0.125 + 0.25, 1e-3);
  EXPECT_EQ(cluster.root(), 0U);
  EXPECT_NEAR(cluster.link_bytes_per_second.at(1).at(0), 125e6, 1e6);
}

}  // namespace
}  // namespace hetsort::sort::test
