// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Which shares a calibration comes to: that nodes end together, within their memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "tests/sort/calibrate/calibrate_world.h"

namespace hetsort::sort::test {
namespace {

TEST(CalibrateShares, nodes_that_sort_alone_end_together) {
  const Outcome outcome = calibrate_world({.records_per_second = {3e5, 1e5, 1e5}}, {45, kMuchMemory});
  EXPECT_EQ(outcome.alone.front(), (std::vector<std::uint64_t>{10'000, 10'000, 10'000}));
  const std::vector<std::uint64_t>& last = *std::max_element(outcome.alone.begin(), outcome.alone.end());
  EXPECT_NEAR(static_cast<double>(last[0]), 3 * static_cast<double>(last[1]), 0.1 * static_cast<double>(last[0]));
  EXPECT_EQ(outcome.calibration.nodes[1].alone.back().records, last[1]);
}

TEST(CalibrateShares, merging_and_writing_count_where_they_would_hold_up_an_exchange) {
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

TEST(CalibrateShares, a_slow_disk_counts_unless_links_hide_it) {
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
  // The nodes are so fast that the smallest sorts show no difference.
  for (std::vector<double>* rates : {&world.records_per_second, &world.exchanged})
    for (double& rate : *rates) rate *= 100;
  expect_shares({1, 2, 4, 8}, {45, kMuchMemory});
}

TEST(CalibrateShares, two_kinds_of_shares_are_tried_with_the_same_records_however_many_fit) {
  const World world{.records_per_second = {1e5, 2e5, 2e5, 4e5}, .forming = {0.1, 0.1, 0.05, 0.05}};
  const Outcome outcome = calibrate_world(world, {45, 100'000});
  std::size_t tried = 0;
  for (std::size_t i = 0; i + 1 < outcome.together.size(); ++i) {
    const std::vector<std::uint64_t>& shares = outcome.together[i];
    for (const std::uint64_t share : shares) EXPECT_LE(share, 100'000U);
    if (shares[2] < shares[1] * 3 / 2) continue;
    ++tried;
    const std::vector<std::uint64_t>& next = outcome.together[i + 1];
    EXPECT_EQ(std::accumulate(shares.begin(), shares.end(), std::uint64_t{0}),
              std::accumulate(next.begin(), next.end(), std::uint64_t{0}));
  }
  EXPECT_GE(tried, 4U);
}

TEST(CalibrateShares, sorts_of_all_correct_what_few_sorts_alone_said) {
  World world{.records_per_second = {3e5, 2e5}, .noise = 0.02, .forming_alone = {1.2, 1}};
  const Outcome outcome = calibrate_world(world, {45, kMuchMemory});
  const auto ratio = [](const TogetherPoint& point) {
    return static_cast<double>(point.shares[0]) / static_cast<double>(point.shares[1]);
  };
  EXPECT_NEAR(ratio(outcome.calibration.together.front()), 1.5 / 1.2, 0.05) << world.seed;
  EXPECT_NEAR(ratio(outcome.calibration.together.back()), 1.5, 0.1) << world.seed;
}

TEST(CalibrateShares, small_sorts_do_not_decide_the_shares_of_large_ones) {
  World world{.records_per_second = {3e6, 2e6}, .noise = 0.02, .formed_alike = 50'000};
  const std::vector<std::uint64_t> shares =
      calibrate_world(world, {45, kMuchMemory}).calibration.together.back().shares;
  EXPECT_NEAR(static_cast<double>(shares[0]), 1.5 * static_cast<double>(shares[1]),
              0.04 * static_cast<double>(shares[0]))
      << world.seed;
}

TEST(CalibrateShares, where_all_sorts_are_short_the_largest_decide) {
  World world{.records_per_second = {3e6, 2e6}, .noise = 0.02, .formed_alike = 20'000};
  const Calibration calibration = calibrate_world(world, {45, 50'000}).calibration;
  EXPECT_GE(calibration.together.size(), 2U);
  for (const TogetherPoint& point : calibration.together)
    EXPECT_NEAR(static_cast<double>(point.shares[0]), 1.5 * static_cast<double>(point.shares[1]),
                0.05 * static_cast<double>(point.shares[0]))
        << point.whole.records << ", seed " << world.seed;
}

TEST(CalibrateShares, nodes_may_be_however_far_apart) {
  const Calibration calibration =
      calibrate_world({.records_per_second = {1e7, 1e5, 1e5}}, {45, kMuchMemory}).calibration;
  const std::vector<std::uint64_t>& largest = calibration.together.back().shares;
  EXPECT_NEAR(static_cast<double>(largest[0]), 100 * static_cast<double>(largest[1]),
              0.1 * static_cast<double>(largest[0]));
}

TEST(CalibrateShares, a_fast_node_gets_no_more_than_fits_its_memory_and_keeps_its_speed) {
  const World world{.records_per_second = {3e5, 1e5, 1e5}};
  constexpr std::uint64_t kMaxShare = 50'000;
  const Outcome outcome = calibrate_world(world, {45, kMaxShare});
  const Calibration& calibration = outcome.calibration;
  for (const TogetherPoint& point : calibration.together)
    for (const std::uint64_t share : point.shares) EXPECT_LE(share, kMaxShare) << point.whole.records;
  for (const std::vector<std::uint64_t>& shares : outcome.alone)
    for (const std::uint64_t share : shares) EXPECT_LE(share, kMaxShare);
  // Nearly all of its memory is used, and it does not wait for the others.
  const std::vector<std::uint64_t>& largest = calibration.together.back().shares;
  EXPECT_GT(largest[0], kMaxShare * 9 / 10);
  EXPECT_NEAR(static_cast<double>(largest[1]), static_cast<double>(largest[0]) / 3, 0.03 * kMaxShare);
}

TEST(CalibrateShares, what_fits_memory_is_used_to_the_last_record_and_no_further) {
  constexpr std::uint64_t kMaxShare = 50'000;
  for (std::size_t count = 2; count <= 8; ++count) {
    for (const double rate : {1e6 / 3, 2e6 / 7, 4e6 / 9, 7e5 / 11}) {
      const World world{.records_per_second = std::vector<double>(count, rate)};
      EXPECT_EQ(calibrate_world(world, {30, kMaxShare}).calibration.together.back().whole.records, count * kMaxShare)
          << rate;
    }
  }
  std::mt19937_64 random(test::test_seed());
  for (int time = 0; time < 20; ++time) {
    World world{.records_per_second = std::vector<double>(5)};
    for (double& rate : world.records_per_second) rate = 1e5 * std::uniform_int_distribution<int>(1, 7)(random);
    const Outcome outcome = calibrate_world(world, {30, kMaxShare});
    for (const auto* sorts : {&outcome.alone, &outcome.together})
      for (const std::vector<std::uint64_t>& shares : *sorts)
        EXPECT_LE(*std::max_element(shares.begin(), shares.end()), kMaxShare) << time << ", seed " << world.seed;
  }
}

}  // namespace
}  // namespace hetsort::sort::test
