// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What a calibration measures and writes, and how long it takes.
#include "sort/calibrate/calibrate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "comm/in_process.h"
#include "partition/cluster.h"
#include "partition/plan.h"
#include "sort/calibrate/calibration_text.h"
#include "tests/sort/calibrate/calibrate_world.h"

namespace hetsort::sort::test {
namespace {

std::vector<NodeFacts> facts_of(std::size_t ranks) {
  std::vector<NodeFacts> facts;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    facts.push_back({"node" + std::to_string(rank), (rank + 1) << 30, rank + 1});
  return facts;
}

partition::Cluster parsed(const Calibration& calibration) {
  const std::string text = cluster_text(calibration, facts_of(calibration.nodes.size()), {"2006-01-31", "1.0", 100});
  return partition::parse_cluster(text, "calibrated.toml");
}

partition::Plan plan_for(const Calibration& calibration, std::int64_t records) {
  // As a sort plans: what does not fit memory spills.
  const partition::ClusterUse use{.memory_caps = false};
  return partition::make_plan(partition::problem_from_cluster(parsed(calibration), records, use), "threshold");
}

TEST(Calibrate, plans_from_the_file_predict_what_a_sort_of_all_nodes_takes) {
  const World world{.records_per_second = {150e3, 150e3, 100e3, 50e3}};
  const Calibration calibration = calibrate_world(world, {45, kMuchMemory}).calibration;
  const auto seconds_for = [](double records) { return 1.5 * (kStart + records / 450e3) + kFirstSortExtra + kJobAge; };
  // Beyond the largest size measured too.
  for (const std::int64_t records : {100'000, 1'000'000, 50'000'000}) {
    const auto all = static_cast<double>(records);
    const partition::Plan plan = plan_for(calibration, records);
    EXPECT_NEAR(plan.makespan, seconds_for(all), 0.02 * seconds_for(all)) << records;
    EXPECT_NEAR(static_cast<double>(plan.nodes[0].records), all / 3, 0.02 * all) << records;
    EXPECT_NEAR(static_cast<double>(plan.nodes[3].records), all / 9, 0.02 * all) << records;
  }
  // Of few records the start is nearly all.
  EXPECT_NEAR(plan_for(calibration, 1000).makespan, seconds_for(1000), 0.05 * seconds_for(1000));
}

TEST(Calibrate, one_process_has_a_curve_of_its_own_sorts) {
  const World world{.records_per_second = {200e3}, .together = 1};
  const Calibration calibration = calibrate_world(world, {45, kMuchMemory}).calibration;
  ASSERT_EQ(calibration.nodes.size(), 1U);
  EXPECT_TRUE(calibration.nodes[0].alone.empty());
  EXPECT_NEAR(plan_for(calibration, 400'000).makespan, kStart + 2 + kFirstSortExtra + kJobAge, 0.01);
}

TEST(Calibrate, takes_no_longer_than_it_may) {
  for (const double rate : {1e3, 1e5, 1e7})
    for (const double noise : {0.0, 0.5}) {
      const World world{.records_per_second = {rate, rate / 3, rate / 2}, .noise = noise};
      // On the slowest node even one sort of the smallest size takes long: then that is all there is.
      const double shortest = 8 * 1.5 * (kStart + 10'000 * 3 / rate);
      EXPECT_LE(calibrate_world(world, {45, kMuchMemory}).seconds, std::max(45.0, 0.45 * 45 + 3 * shortest))
          << rate << " noise " << noise << " seed " << world.seed;
    }
}

TEST(Calibrate, a_first_sort_that_is_longer_by_chance_adds_nothing) {
  World world{.records_per_second = {1e6, 1e6}, .noise = 0.3, .first_sort_extra = 0};
  // Of six alike sorts the first is the longest once in six times; it is longer than their median every other time.
  constexpr std::uint64_t kTimes = 60;
  std::uint64_t longer = 0;
  for (std::uint64_t time = 0; time < kTimes; ++time, ++world.seed) {
    const double start = calibrate_world(world, {1, 1000}).calibration.start_seconds;
    EXPECT_GE(start, kJobAge) << world.seed;
    longer += start > kJobAge ? 1 : 0;
  }
  EXPECT_LE(longer, kTimes / 3) << world.seed;
}

TEST(Calibrate, near_points_do_not_decide_what_lies_beyond) {
  const auto point = [](std::uint64_t records, double seconds) {
    return TogetherPoint{{.records = records, .seconds = seconds}, {records}};
  };
  // One second a thousand records, but for the last but one.
  Calibration calibration;
  calibration.nodes.resize(1);
  calibration.together = {point(1000, 1), point(3000, 3.6), point(4000, 4)};
  EXPECT_NEAR(node_curve(calibration, 0).back().seconds, 4000, 1);
  calibration.together.erase(calibration.together.begin());
  EXPECT_NEAR(node_curve(calibration, 0).back().seconds, 4 + 0.5 * 3996, 1);  // no point is far enough
}

TEST(Calibrate, sizes_stay_within_memory) {
  const World world{.records_per_second = {1e6, 1e6}};
  const Calibration calibration = calibrate_world(world, {45, 50'000}).calibration;
  EXPECT_EQ(calibration.nodes[0].alone.back().records, 50'000U);
  EXPECT_EQ(calibration.together.back().whole.records, 100'000U);
}

TEST(Calibrate, memory_for_no_record_at_all_still_gives_a_curve_of_each_node) {
  for (const std::size_t count : {1U, 3U}) {
    const World world{.records_per_second = std::vector<double>(count, 1e6)};
    const Calibration calibration = calibrate_world(world, {1, 0}).calibration;
    EXPECT_EQ(calibration.together.back().whole.records, count);
    EXPECT_EQ(plan_for(calibration, 1000).records, 1000);
  }
}

TEST(Calibrate, each_pair_of_ranks_meets_once) {
  for (const std::size_t count : {2U, 3U, 4U}) {
    const World world{.records_per_second = std::vector<double>(count, 1e6)};
    const Outcome outcome = calibrate_world(world, {10, kMuchMemory});
    for (std::size_t rank = 0; rank < count; ++rank) {
      std::set<int> met(outcome.peers[rank].begin(), outcome.peers[rank].end());
      EXPECT_EQ(outcome.peers[rank].size(), count - 1);
      EXPECT_EQ(met.size(), count - 1);
      EXPECT_FALSE(met.contains(static_cast<int>(rank)));
    }
  }
}

TEST(Calibrate, the_file_has_what_was_measured_of_each_node) {
  const World world{.records_per_second = {1e6, 5e5, 2e5}};
  const Calibration calibration = calibrate_world(world, {20, kMuchMemory}).calibration;
  const partition::Cluster cluster = parsed(calibration);
  ASSERT_EQ(cluster.nodes.size(), 3U);
  EXPECT_EQ(cluster.root(), std::nullopt);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    const partition::ClusterNode& node = cluster.nodes[rank];
    const double part = static_cast<double>(rank + 1);
    EXPECT_EQ(node.name, "node" + std::to_string(rank));
    EXPECT_EQ(node.memory_bytes, static_cast<std::int64_t>(rank + 1) << 30);
    EXPECT_DOUBLE_EQ(*node.disk_read_bytes_per_second, 1e8 * part);
    EXPECT_DOUBLE_EQ(*node.disk_write_bytes_per_second, 5e7 * part);
    EXPECT_TRUE(node.compute->non_decreasing());
    EXPECT_NEAR(*node.speed, world.records_per_second[rank] / 2e5, 0.02 * *node.speed);
    EXPECT_NEAR(node.receive->value(1000), rank == 0 ? 0 : 1000 * 100 / (1e7 * part), 1e-6);
  }
}

TEST(Calibrate, noise_is_averaged_and_what_does_not_converge_is_reported) {
  const World steady{.records_per_second = {1e6, 5e5}, .noise = 0.02};
  const Outcome calm = calibrate_world(steady, {45, kMuchMemory});
  EXPECT_EQ(unsteady_text(calm.calibration), "") << steady.seed;
  const std::string calm_text = cluster_text(calm.calibration, facts_of(2), {"", "", 100});
  EXPECT_EQ(calm_text.find("NOT STEADY"), std::string::npos) << calm_text;

  const World wild{.records_per_second = {1e6, 5e5}, .noise = 0.9};
  const Outcome rough = calibrate_world(wild, {20, kMuchMemory});
  EXPECT_NE(unsteady_text(rough.calibration).find("did not get steady"), std::string::npos) << wild.seed;
  const std::string rough_text = cluster_text(rough.calibration, facts_of(2), {"", "", 100});
  EXPECT_NE(rough_text.find("NOT STEADY"), std::string::npos) << rough_text;
  // However noisy: a curve that rises, and plans.
  for (const partition::ClusterNode& node : parsed(rough.calibration).nodes)
    EXPECT_TRUE(node.compute->non_decreasing()) << wild.seed;
  EXPECT_EQ(plan_for(rough.calibration, 1'000'000).records, 1'000'000);
}

TEST(Calibrate, a_second_run_measures_the_same_sizes_and_gives_the_same_curves) {
  World world{.records_per_second = {3e6, 3e6, 2e6, 2e6}, .noise = 0.03};
  const Calibration one = calibrate_world(world, {45, kMuchMemory}).calibration;
  ++world.seed;
  const Calibration two = calibrate_world(world, {45, kMuchMemory}).calibration;
  ASSERT_EQ(one.together.size(), two.together.size());
  for (std::size_t i = 0; i < one.together.size(); ++i)
    EXPECT_EQ(one.together[i].whole.records, two.together[i].whole.records) << i;
  const partition::Cluster first = parsed(one);
  const partition::Cluster second = parsed(two);
  for (std::size_t rank = 0; rank < 4; ++rank)
    for (const std::int64_t records : {1'000, 10'000, 100'000, 1'000'000, 100'000'000})
      EXPECT_NEAR(first.nodes[rank].compute->value(static_cast<double>(records)) /
                      second.nodes[rank].compute->value(static_cast<double>(records)),
                  1, 0.05)
          << rank << ": " << records << " records; seed " << world.seed;
}

TEST(Calibrate, what_a_host_keeps_for_a_while_is_not_measured) {
  World world{.records_per_second = {1.5e6, 1.5e6, 1e6, 1e6}, .noise = 0.02};
  const Calibration calm = calibrate_world(world, {60, kMuchMemory}).calibration;
  for (const double begin : {11.0, 22.0, 27.0, 35.0}) {  // into the sorts alone, and into sorts of all
    world.burst_begin = kClockStart + begin;
    world.burst_end = world.burst_begin + 6;
    world.burst_times = 3;
    const Calibration met = calibrate_world(world, {60, kMuchMemory}).calibration;
    std::uint64_t disturbed = 0;
    for (const TogetherPoint& point : met.together) disturbed += point.whole.outliers;
    for (const MeasuredPoint& point : met.nodes[0].alone) disturbed += point.outliers;
    const std::string text = cluster_text(met, facts_of(4), {"2006-01-31", "1.0", 100});
    if (begin > 20) {  // before, the last size alone may have met nothing else
      EXPECT_GT(disturbed, 0U) << begin;
      EXPECT_NE(text.find(" more disturbed"), std::string::npos) << text;
    }
    for (std::size_t rank = 0; rank < 4; ++rank)
      for (const std::int64_t records : {10'000, 100'000, 1'000'000, 5'000'000})
        EXPECT_NEAR(parsed(met).nodes[rank].compute->value(static_cast<double>(records)) /
                        parsed(calm).nodes[rank].compute->value(static_cast<double>(records)),
                    1, 0.05)
            << begin << ", " << rank << ": " << records << " records; seed " << world.seed;
  }
}

TEST(Calibrate, what_a_host_keeps_of_sorts_alone_counts_by_its_part_of_the_longest) {
  // Sorts of the smallest size have equal shares: those of the fast one are short, and what is stolen from both is a
  // large part of them.
  const auto disturbed = [](double slow_rate, double times) {
    World world{.records_per_second = {10 * slow_rate, slow_rate}, .burst_times = times};
    std::uint64_t most = 0;
    for (double begin = 18; begin < 40; begin += 0.5) {
      world.burst_begin = kClockStart + begin;
      world.burst_end = world.burst_begin + 0.5;
      const Calibration met = calibrate_world(world, {120, kMuchMemory}).calibration;
      const std::uint64_t slow = met.nodes[1].alone.front().outliers;
      EXPECT_EQ(met.nodes[0].alone.front().outliers, slow) << "burst at " << begin << " s";
      most = std::max(most, slow);
    }
    return most;
  };
  EXPECT_GT(disturbed(1e5, 0.5), 0U);
  EXPECT_EQ(disturbed(1e4, 0.08), 0U);
}

TEST(Calibrate, a_rank_that_fails_ends_it_for_all) {
  class FailingBench final : public Bench {
   public:
    explicit FailingBench(int rank) : rank_(rank) {}
    double now_seconds() override { return 0; }
    double job_start_seconds() override { return 0; }
    DiskRates measure_disk(double) override {
      if (rank_ == 1) throw std::runtime_error("no disk");
      return {};
    }
    LinkRates measure_link(int, double) override { return {}; }
    TimedSort sort_alone(const std::vector<std::uint64_t>&) override { return {.whole = {1}}; }
    TimedSort sort_together(const std::vector<std::uint64_t>&) override { return {.whole = {1}}; }

   private:
    int rank_;
  };
  const std::vector<comm::RankEnd> ends = comm::try_ranks(3, test::test_seed(), {}, [](comm::Communicator& ranks) {
    FailingBench bench(ranks.rank());
    static_cast<void>(calibrate(bench, {10, 1000}, ranks));
  });
  for (const comm::RankEnd& end : ends) EXPECT_EQ(end.conclusion, "rank 1 (node1): no disk");
}

TEST(LinkRates, both_ranks_of_a_pair_learn_their_way) {
  for (const comm::ExchangeMode mode : {comm::ExchangeMode::kThread, comm::ExchangeMode::kInline}) {
    comm::InProcessOptions options;
    options.communicator.mode = mode;
    comm::run_ranks(2, test::test_seed(), options, [](comm::Communicator& ranks) {
      const LinkRates link = measure_link(ranks, 1 - ranks.rank(), ranks.take_tags(1), 0.1);
      EXPECT_GT(link.bytes_per_second, 0);
      EXPECT_GT(link.latency_seconds, 0);
      EXPECT_LT(link.latency_seconds, 1);
    });
  }
}

}  // namespace
}  // namespace hetsort::sort::test
