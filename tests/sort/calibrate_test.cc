// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Calibrations of nodes that are made up: their speeds, noise and clocks are told, so what must come out is known.
#include "sort/calibrate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <mutex>
#include <numeric>
#include <random>
#include <set>

#include "partition/cluster.h"
#include "partition/plan.h"
#include "sort/calibration_text.h"
#include "sort/comm/in_process.h"
#include "tests/sort/inputs.h"

namespace hetsort::sort {
namespace {

constexpr double kStart = 0.01;
constexpr double kFirstSortExtra = 0.25;
constexpr double kJobAge = 0.125;
constexpr double kClockStart = 1000;

/// What is made up of all nodes.
struct World {
  std::vector<double> records_per_second;  ///< of each rank
  double noise = 0;                        ///< a time is off by up to this part
  double together = 1.5;                   ///< a sort of all takes so many times as long as each one's alone
  std::vector<double> forming{};           ///< part of each rank's sort alone; a quarter where none is told
  std::vector<double> exchanged{};         ///< records a second over each rank's link, beside which all else is nothing
  double first_sort_extra = kFirstSortExtra;  ///< the first sort of all takes so much longer, in seconds
  /// Seconds on the clock between which the host of the last rank keeps its processors so many times as long as a sort
  /// takes.
  double burst_begin = 0;
  double burst_end = 0;
  double burst_times = 0;
  std::uint64_t seed = test::test_seed();
};

/// A rank of it. Time passes only by what is measured.
class FakeBench final : public Bench {
 public:
  FakeBench(const World& world, int rank)
      : world_(world), rank_(rank), random_(world.seed + static_cast<unsigned>(rank)), of_all_(world.seed) {}

  double now_seconds() override { return clock_; }
  double job_start_seconds() override { return kClockStart - kJobAge / (rank_ + 1); }  // rank 0 began first
  io::DiskRates measure_disk(double seconds) override {
    clock_ += seconds;
    return {.read_bytes_per_second = 1e8 * (rank_ + 1), .write_bytes_per_second = 5e7 * (rank_ + 1)};
  }
  LinkRates measure_link(int peer, double seconds) override {
    clock_ += 2 * seconds;
    peers_.push_back(peer);
    return {.latency_seconds = 1e-4, .bytes_per_second = 1e7 * (peer + 1)};
  }
  TimedSort sort_alone(const std::vector<std::uint64_t>& shares) override {
    alone_.push_back(shares);
    const Repetition whole = pass(shares, {.times = 1});
    const double part = world_.forming.empty() ? 0.25 : world_.forming[static_cast<std::size_t>(rank_)];
    return {whole, part * whole.seconds};
  }
  Repetition sort_together(const std::vector<std::uint64_t>& shares) override {
    shares_.push_back(shares);
    const double first = shares_.size() == 1 ? world_.first_sort_extra : 0;
    return pass(shares, {world_.together, first, !world_.exchanged.empty()});
  }

  const std::vector<int>& peers() const { return peers_; }
  const std::vector<std::vector<std::uint64_t>>& alone() const { return alone_; }
  const std::vector<std::vector<std::uint64_t>>& together() const { return shares_; }

 private:
  struct Sort {
    double times = 1;    // as long as alone
    double first = 0;    // seconds added
    bool links = false;  // decide
  };
  double seconds_for(std::uint64_t records, int rank, bool links) const {
    const std::vector<double>& rates = links ? world_.exchanged : world_.records_per_second;
    return kStart + static_cast<double>(records) / rates[static_cast<std::size_t>(rank)];
  }
  double off(std::mt19937_64& random) const {
    return 1 + std::uniform_real_distribution<double>(-world_.noise, world_.noise)(random);
  }
  /// What this rank took; the clock waits for the last one.
  Repetition pass(const std::vector<std::uint64_t>& shares, const Sort& sort) {
    const auto [times, first, links] = sort;
    double latest = 0;
    for (std::size_t rank = 0; rank < shares.size(); ++rank)
      latest = std::max(latest, seconds_for(shares[rank], static_cast<int>(rank), links));
    const double all = latest * times * off(of_all_) + first;
    // Stolen is what a sort takes longer, or all who wait for it: the host has two processors, and keeps both.
    const double stolen = stolen_from(clock_, all);
    clock_ += all + stolen;
    const double mine =
        seconds_for(shares[static_cast<std::size_t>(rank_)], rank_, links) * times * off(random_) + first + stolen;
    return {mine, rank_ == static_cast<int>(shares.size()) - 1 ? stolen : 0};
  }
  /// Seconds that work from `begin` on, of so many seconds, stands still.
  double stolen_from(double begin, double seconds) const {
    return begin < world_.burst_end && begin + seconds > world_.burst_begin ? world_.burst_times * seconds : 0;
  }

  const World& world_;
  int rank_;
  std::mt19937_64 random_;
  std::mt19937_64 of_all_;  // the same on all ranks
  double clock_ = kClockStart;
  std::vector<int> peers_;
  std::vector<std::vector<std::uint64_t>> alone_;
  std::vector<std::vector<std::uint64_t>> shares_;
};

constexpr std::uint64_t kMuchMemory = 1'000'000'000;

struct Outcome {
  Calibration calibration;
  double seconds = 0;  ///< the longest of the ranks
  std::vector<std::vector<int>> peers;
  std::vector<std::vector<std::uint64_t>> alone;     ///< the shares of each sort alone
  std::vector<std::vector<std::uint64_t>> together;  ///< and of all
};

Outcome calibrate_world(const World& world, const CalibrationLimits& limits) {
  Outcome outcome;
  const int count = static_cast<int>(world.records_per_second.size());
  outcome.peers.resize(world.records_per_second.size());
  std::mutex mutex;
  run_ranks(count, world.seed, {}, [&](Communicator& ranks) {
    FakeBench bench(world, ranks.rank());
    const double begin = bench.now_seconds();
    Calibration calibration = calibrate(bench, limits, ranks);
    const std::lock_guard lock(mutex);
    outcome.seconds = std::max(outcome.seconds, bench.now_seconds() - begin);
    outcome.peers[static_cast<std::size_t>(ranks.rank())] = bench.peers();
    if (ranks.rank() == 0) outcome.calibration = std::move(calibration);
    if (ranks.rank() == 0) outcome.alone = bench.alone();
    if (ranks.rank() == 0) outcome.together = bench.together();
  });
  return outcome;
}

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

TEST(Calibrate, plans_from_the_file_foretell_what_a_sort_of_all_nodes_takes) {
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

TEST(Calibrate, nodes_that_sort_alone_end_together) {
  const Outcome outcome = calibrate_world({.records_per_second = {3e5, 1e5, 1e5}}, {45, kMuchMemory});
  EXPECT_EQ(outcome.alone.front(), (std::vector<std::uint64_t>{10'000, 10'000, 10'000}));
  const std::vector<std::uint64_t>& last = outcome.alone.back();
  EXPECT_NEAR(static_cast<double>(last[0]), 3 * static_cast<double>(last[1]), 0.1 * static_cast<double>(last[0]));
  EXPECT_EQ(outcome.calibration.nodes[1].alone.back().records, last[1]);
}

TEST(Calibrate, merging_and_writing_count_where_they_would_hold_up_an_exchange) {
  const auto last_shares = [](const World& world) {
    return calibrate_world(world, {45, kMuchMemory}).calibration.together.back().shares;
  };
  // All form 400,000 records a second; the shared disk serves the second one badly, but well enough.
  std::vector<std::uint64_t> shares =
      last_shares({.records_per_second = {2e5, 1.25e5, 2e5}, .forming = {0.5, 0.3125, 0.5}});
  EXPECT_NEAR(static_cast<double>(shares[1]), static_cast<double>(shares[0]), 0.02 * static_cast<double>(shares[0]));
  // The disk of the second one is much slower than its processor.
  shares = last_shares({.records_per_second = {2e5, 4e4, 2e5}, .forming = {0.5, 0.1, 0.5}});
  EXPECT_NEAR(static_cast<double>(shares[1]), 0.4 * static_cast<double>(shares[0]),
              0.02 * static_cast<double>(shares[0]));
}

/// Of the last sort of all, in parts of the first rank's.
std::vector<double> last_shares_by_the_first(const Outcome& outcome) {
  const std::vector<std::uint64_t>& last = outcome.calibration.together.back().shares;
  std::vector<double> shares;
  for (const std::uint64_t share : last) shares.push_back(static_cast<double>(share) / static_cast<double>(last[0]));
  return shares;
}

TEST(Calibrate, a_slow_disk_counts_unless_links_hide_it) {
  // Processors and links 1 : 2 : 4 : 8, disks 1 : 2 : 2 : 4; alone forming takes a tenth of a sort, or half of that.
  World world{.records_per_second = {1e5, 2e5, 2e5, 4e5}, .noise = 0.02, .forming = {0.1, 0.1, 0.05, 0.05}};
  const auto expect_shares = [&](const std::vector<double>& expected, const CalibrationLimits& limits) {
    const Outcome outcome = calibrate_world(world, limits);
    EXPECT_LE(outcome.seconds, limits.seconds) << world.seed;
    const std::vector<double> shares = last_shares_by_the_first(outcome);
    ASSERT_EQ(shares.size(), expected.size());
    for (std::size_t rank = 0; rank < shares.size(); ++rank)
      EXPECT_NEAR(shares[rank], expected[rank], 0.05 * expected[rank]) << rank << ", seed " << world.seed;
  };
  expect_shares({1, 2, 2, 4}, {45, kMuchMemory});
  world.exchanged = {5e4, 1e5, 2e5, 4e5};
  expect_shares({1, 2, 4, 8}, {45, kMuchMemory});
  // So fast that the smallest sorts tell nothing.
  for (std::vector<double>* rates : {&world.records_per_second, &world.exchanged})
    for (double& rate : *rates) rate *= 100;
  expect_shares({1, 2, 4, 8}, {45, kMuchMemory});
}

TEST(Calibrate, two_kinds_of_shares_are_tried_with_the_same_records_however_many_fit) {
  const World world{.records_per_second = {1e5, 2e5, 2e5, 4e5}, .forming = {0.1, 0.1, 0.05, 0.05}};
  const Outcome outcome = calibrate_world(world, {45, 100'000});
  std::size_t tried = 0;
  for (std::size_t i = 1; i < outcome.together.size(); ++i) {
    const std::vector<std::uint64_t>& shares = outcome.together[i];
    for (const std::uint64_t share : shares) EXPECT_LE(share, 100'000U);
    if (shares[2] < shares[1] * 3 / 2) continue;
    ++tried;
    const std::vector<std::uint64_t>& before = outcome.together[i - 1];
    EXPECT_EQ(std::accumulate(shares.begin(), shares.end(), std::uint64_t{0}),
              std::accumulate(before.begin(), before.end(), std::uint64_t{0}));
  }
  EXPECT_GE(tried, 4U);
}

TEST(Calibrate, nodes_may_be_however_far_apart) {
  const Calibration calibration =
      calibrate_world({.records_per_second = {1e7, 1e5, 1e5}}, {45, kMuchMemory}).calibration;
  const std::vector<std::uint64_t>& largest = calibration.together.back().shares;
  EXPECT_NEAR(static_cast<double>(largest[0]), 100 * static_cast<double>(largest[1]),
              0.1 * static_cast<double>(largest[0]));
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

TEST(Calibrate, a_fast_node_gets_no_more_than_fits_its_memory_and_keeps_its_speed) {
  const World world{.records_per_second = {3e5, 1e5, 1e5}};
  constexpr std::uint64_t kMost = 50'000;
  const Outcome outcome = calibrate_world(world, {45, kMost});
  const Calibration& calibration = outcome.calibration;
  for (const TogetherPoint& point : calibration.together)
    for (const std::uint64_t share : point.shares) EXPECT_LE(share, kMost) << point.whole.records;
  for (const std::vector<std::uint64_t>& shares : outcome.alone)
    for (const std::uint64_t share : shares) EXPECT_LE(share, kMost);
  // Nearly all of its memory is used, and it does not wait for the others.
  const std::vector<std::uint64_t>& largest = calibration.together.back().shares;
  EXPECT_GT(largest[0], kMost * 9 / 10);
  EXPECT_NEAR(static_cast<double>(largest[1]), static_cast<double>(largest[0]) / 3, 0.03 * kMost);
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

TEST(Calibrate, noise_is_averaged_and_what_stays_unsteady_is_told) {
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
    for (const TogetherPoint& point : met.together) disturbed += point.whole.disturbed;
    for (const MeasuredPoint& point : met.nodes[0].alone) disturbed += point.disturbed;
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
      const std::uint64_t slow = met.nodes[1].alone.front().disturbed;
      EXPECT_EQ(met.nodes[0].alone.front().disturbed, slow) << "burst at " << begin << " s";
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
    io::DiskRates measure_disk(double) override {
      if (rank_ == 1) throw std::runtime_error("no disk");
      return {};
    }
    LinkRates measure_link(int, double) override { return {}; }
    TimedSort sort_alone(const std::vector<std::uint64_t>&) override { return {.whole = {1}}; }
    Repetition sort_together(const std::vector<std::uint64_t>&) override { return {1}; }

   private:
    int rank_;
  };
  const std::vector<RankEnd> ends = try_ranks(3, test::test_seed(), {}, [](Communicator& ranks) {
    FailingBench bench(ranks.rank());
    static_cast<void>(calibrate(bench, {10, 1000}, ranks));
  });
  for (const RankEnd& end : ends) EXPECT_EQ(end.conclusion, "rank 1 (node1): no disk");
}

TEST(LinkRates, both_ranks_of_a_pair_learn_their_way) {
  for (const ExchangeMode mode : {ExchangeMode::kThread, ExchangeMode::kInline}) {
    InProcessOptions options;
    options.communicator.mode = mode;
    run_ranks(2, test::test_seed(), options, [](Communicator& ranks) {
      const LinkRates link = measure_link(ranks, 1 - ranks.rank(), ranks.take_tags(1), 0.1);
      EXPECT_GT(link.bytes_per_second, 0);
      EXPECT_GT(link.latency_seconds, 0);
      EXPECT_LT(link.latency_seconds, 1);
    });
  }
}

}  // namespace
}  // namespace hetsort::sort
