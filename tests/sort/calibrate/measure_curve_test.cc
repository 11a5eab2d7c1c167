// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/calibrate/measure_curve.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/sort/inputs.h"

namespace hetsort::sort::test {
namespace {

TEST(MeasureCurve, repeats_each_size_until_it_converges) {
  double clock = 0;
  std::mt19937_64 random(test::test_seed());
  const auto time = [&](std::uint64_t records) {
    const double seconds =
        static_cast<double>(records) * 1e-4 * std::uniform_real_distribution<double>(0.9, 1.1)(random);
    clock += seconds;
    return Repetition{seconds};
  };
  for (const MeasuredPoint& point : measure_curve(time, [&] { return clock; }, {1000, 64'000, 1e5})) {
    EXPECT_TRUE(point.converged);
    EXPECT_GE(point.repetitions, 6U);
    EXPECT_LE(point.spread, 0.025);
    EXPECT_NEAR(point.seconds, static_cast<double>(point.records) * 1e-4, static_cast<double>(point.records) * 1e-5);
  }
}

TEST(MeasureCurve, leaves_the_first_repetition_out_and_takes_the_mean_of_the_shorter_half) {
  const std::vector<Repetition> seconds{{9}, {1}, {1.25}, {1.375}, {1.125}, {5}};
  const MeasuredPoint point = summarize(10, seconds);
  EXPECT_EQ(point.seconds, 1.125);
  EXPECT_EQ(point.repetitions, 6U);
  EXPECT_FALSE(point.converged);
  EXPECT_EQ(summarize(10, std::vector<Repetition>{{9}, {1}, {3}}).seconds, 1);
  EXPECT_EQ(summarize(10, std::vector<Repetition>{{9}}).seconds, 9);
  EXPECT_EQ(summarize(10, std::vector<Repetition>{{9}}).spread, 1);
}

TEST(MeasureCurve, what_makes_up_to_half_of_the_repetitions_longer_changes_nothing) {
  SCOPED_TRACE(test::seed_note());
  std::mt19937_64 random(test::test_seed());
  const auto between = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  for (int time = 0; time < 200; ++time) {
    std::vector<Repetition> seconds(13);
    for (Repetition& one : seconds) one.seconds = between(0.98, 1.02);
    for (int i = 0; i < 6; ++i) seconds[std::uniform_int_distribution<std::size_t>(0, 12)(random)].seconds *= 1.4;
    EXPECT_NEAR(summarize(10, seconds).seconds, 1, 0.02) << time;
  }
}

TEST(MeasureCurve, what_was_stolen_from_does_not_count_unless_it_is_the_rule) {
  const std::vector<Repetition> some{{1, 0.02}, {9, 8}, {1.25, 0.14}, {5, 4}, {1.25, 0.1}, {1, 0.01}};
  const MeasuredPoint point = summarize(10, some);
  EXPECT_EQ(point.seconds, 1.125);
  EXPECT_EQ(point.repetitions, 4U);
  EXPECT_EQ(point.outliers, 2U);
  const std::vector<Repetition> all{{2, 0.6}, {2, 0.5}, {4, 1.1}, {6, 3}};
  EXPECT_EQ(summarize(10, all).seconds, 2);
  EXPECT_EQ(summarize(10, all).outliers, 1U);
  EXPECT_EQ(summarize(10, std::vector<Repetition>{{0.02, 0.01}, {0.02, 0}}).outliers, 0U);  // a tick of the clock
  EXPECT_EQ(summarize(10, std::vector<Repetition>{{3, 3}}).seconds, 3);
  // A kernel that accounts for stolen time late may report more of it than the sort took.
  EXPECT_EQ(summarize(10, std::vector<Repetition>{{0.5, 9}, {2, 9}, {0.5, 8}}).seconds, 2);
  EXPECT_EQ(summarize(10, std::vector<Repetition>{{0, 1}, {0, 0}, {0, 2}}).seconds, 0);
  EXPECT_EQ(summarize(10, std::vector<Repetition>{{0, 2}, {0, 3}}).repetitions, 1U);
}

TEST(MeasureCurve, what_was_stolen_from_is_made_again_at_most_once_each) {
  double clock = 0;
  std::size_t made = 0;
  double stolen = 0;
  // Every second one is stolen from, the others never converge.
  const auto time = [&](std::uint64_t records) {
    const double times = static_cast<double>(records) / 10;
    const double seconds = made % 2 == 1 ? 3 : made % 4 == 0 ? 1 : 2;
    clock += times * seconds;
    return Repetition{times * seconds, times * (made++ % 2 == 1 ? 2 : stolen)};
  };
  const auto some = measure_curve(time, [&] { return clock; }, {10, 40, 150});
  ASSERT_EQ(some.size(), 2U);
  // And in two visits of 2.25 s.
  EXPECT_GE(some[0].repetitions, 8U);
  EXPECT_LE(some[0].repetitions, 12U);
  EXPECT_GE(some[0].outliers, 7U);
  EXPECT_LE(some[0].outliers, 11U);
  EXPECT_LT(some[0].seconds, 2);
  EXPECT_GT(some[1].outliers, 2U);
  clock = 0;
  made = 0;
  stolen = 0.7;  // of 1 or 2: the host is always there
  const auto all = measure_curve(time, [&] { return clock; }, {10, 40, 150});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_GE(all[0].repetitions + all[0].outliers, 16U);
  EXPECT_LE(clock, 160);
}

TEST(MeasureCurve, the_last_size_gets_all_the_time_that_is_left) {
  double clock = 0;
  std::mt19937_64 random(test::test_seed());
  const auto time = [&](std::uint64_t records) {
    const double seconds = static_cast<double>(records) * std::uniform_real_distribution<double>(0.5, 1.5)(random);
    clock += seconds;
    return Repetition{seconds};
  };
  const auto points = measure_curve(time, [&] { return clock; }, {1, 4, 400});
  EXPECT_FALSE(points.back().converged);
  EXPECT_GT(4 * points.back().repetitions, 400 / 2U);  // more than half of it
  EXPECT_GT(clock, 390);
  EXPECT_LE(clock, 402);
}

TEST(MeasureCurve, measures_small_sizes_too_and_again_when_time_is_left) {
  double clock = 0;
  double noise = 0.1;
  std::mt19937_64 random(test::test_seed());
  const auto time = [&](std::uint64_t records) {
    const double seconds =
        static_cast<double>(records) * 1e-3 * std::uniform_real_distribution<double>(1 - noise, 1 + noise)(random);
    clock += seconds;
    return Repetition{seconds};
  };
  const auto sizes = [](const std::vector<MeasuredPoint>& points) {
    std::vector<std::uint64_t> records;
    for (const MeasuredPoint& point : points) records.push_back(point.records);
    return records;
  };
  // 8 repetitions of three sizes take 1.7 of 5, of twice the last 2.6 and of four times the last 5.1.
  const auto hurried = measure_curve(time, [&] { return clock; }, {10, 1'000'000, 5});
  EXPECT_EQ(sizes(hurried), (std::vector<std::uint64_t>{10, 40, 160, 320}));
  EXPECT_GE(hurried.front().repetitions, 6U);
  clock = 0;
  noise = 0.3;
  const auto patient = measure_curve(time, [&] { return clock; }, {10, 160, 1000});
  EXPECT_EQ(sizes(patient), (std::vector<std::uint64_t>{10, 40, 160}));
  for (const MeasuredPoint& point : patient) EXPECT_TRUE(point.converged) << point.records;
}

TEST(MeasureCurve, two_slow_seconds_do_not_decide_what_short_sorts_say) {
  // A size that meets them when it is measured first sees nothing else then.
  for (const double slow_from : {0.0, 1.8, 3.6}) {
    double clock = 0;
    const auto time = [&](std::uint64_t records) {
      const bool slow = clock >= slow_from && clock < slow_from + 2;
      const double seconds = static_cast<double>(records) * 1e-3 * (slow ? 1.5 : 1);
      clock += seconds;
      return Repetition{seconds};
    };
    const auto points = measure_curve(time, [&] { return clock; }, {10, 1'000'000, 60});
    EXPECT_GE(points.size(), 4U);
    for (const MeasuredPoint& point : points)
      EXPECT_NEAR(point.seconds, static_cast<double>(point.records) * 1e-3, 1e-9) << point.records << " " << slow_from;
  }
}

TEST(MeasureCurve, visits_leave_time_for_each_other_and_are_short_where_there_is_much) {
  double clock = 0;
  const auto time = [&](std::uint64_t records) {
    clock += static_cast<double>(records) * 1e-3;
    return Repetition{static_cast<double>(records) * 1e-3};
  };
  const auto points_by = [&](double deadline) {
    clock = 0;
    return measure_curve(time, [&] { return clock; }, {10, 160, deadline});
  };
  // Six sorts of 10 records and a visit take 0.07 s, six of 40 take 0.24 s. Of 0.312 s, 2 ms remain: too few for a
  // visit.
  EXPECT_EQ(points_by(0.312).back().records, 20U);
  EXPECT_EQ(points_by(0.34).back().records, 40U);
  for (const MeasuredPoint& point : points_by(1000)) EXPECT_LE(point.repetitions, 100U) << point.records;
}

TEST(MeasureCurve, what_comes_before_each_sort_does_not_grow_with_it) {
  double clock = 0;
  const auto time = [&](std::uint64_t records) {
    clock += 1 + static_cast<double>(records) * 1e-3;
    return Repetition{static_cast<double>(records) * 1e-3};
  };
  // Sorts of 160 take 1.16 s, six of 640 take 9.9 s; six times four times 1.16 s would be 28.
  EXPECT_EQ(measure_curve(time, [&] { return clock; }, {10, 640, 52}).back().records, 640U);
}

TEST(MeasureCurve, ends_by_the_deadline_with_at_least_one_point) {
  double clock = 0;
  const auto time = [&](std::uint64_t records) {
    clock += static_cast<double>(records);
    return Repetition{static_cast<double>(records)};
  };
  const auto points = measure_curve(time, [&] { return clock; }, {100, 1'000'000, 5});
  ASSERT_EQ(points.size(), 1U);
  EXPECT_EQ(points[0].repetitions, 1U);
  EXPECT_EQ(clock, 100);
  EXPECT_EQ(measure_curve(time, [&] { return clock; }, {100, 0, 5}).size(), 1U);
  clock = 0;
  EXPECT_GE(measure_curve(time, [&] { return clock; }, {1, 1'000'000, 1000}).size(), 3U);
  EXPECT_LE(clock, 1000);
}

}  // namespace
}  // namespace hetsort::sort::test
