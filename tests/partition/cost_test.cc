// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/cost.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "partition/error.h"
#include "tests/partition/problems.h"

namespace hetsort::partition::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Cost, inverse_of_nlogn_meets_the_published_values_of_x_over_W) {
  const CostPtr cost = nlogn_cost();
  EXPECT_NEAR(cost->inverse(1e3), 190.491, 5e-4);
  EXPECT_NEAR(cost->inverse(1e6), 87847.5, 0.05);
  EXPECT_NEAR(cost->inverse(1e9), 5.60484e7, 50);
  EXPECT_NEAR(cost->inverse(1e12), 4.09249e10, 5e4);
}

TEST(Cost, no_record_costs_nothing_whatever_the_start) {
  EXPECT_EQ(affine_cost({5, 1})->value(0), 0);
  EXPECT_EQ(nlogn_cost({1, 5, 1})->value(0), 0);
  EXPECT_EQ(affine_cost({5, 1})->value(1), 6);
  EXPECT_EQ(nlogn_cost({1, 5, 2})->value(1), 7);
  EXPECT_EQ(affine_cost({5, 1})->inverse(4.9), 0);
}

TEST(Cost, inverse_undoes_value_for_every_kind) {
  Seeded random(test_seed());
  for (int round = 0; round < 2000; ++round) {
    const CostPtr cost = random_cost(random.engine);
    const double records = std::uniform_real_distribution<double>(1, 500)(random.engine);
    const double back = cost->inverse(cost->value(records));
    EXPECT_GE(back, records * (1 - 1e-12)) << random.note << " round " << round;
    if (std::isinf(back)) continue;  // a table that ends flat at zero
    EXPECT_LE(cost->value(back * (1 - 1e-12)), cost->value(records) * (1 + 1e-9)) << random.note << " round " << round;
  }
}

TEST(Cost, derivative_is_the_slope_where_there_is_no_joint) {
  Seeded random(test_seed());
  int compared = 0;
  for (int round = 0; round < 500; ++round) {
    const CostPtr cost = random_cost(random.engine);
    const double records = 3.0 + static_cast<double>(round % 97) + 0.37;
    const double step = 1e-4;
    const double left = (cost->value(records) - cost->value(records - step)) / step;
    const double right = (cost->value(records + step) - cost->value(records)) / step;
    if (std::abs(left - right) > 1e-3 * std::abs(left)) continue;
    ++compared;
    ASSERT_TRUE(cost->derivative(records));
    EXPECT_NEAR(*cost->derivative(records), left, 2e-3 * std::abs(left) + 1e-9) << random.note << " round " << round;
  }
  EXPECT_GT(compared, 400);
}

TEST(Cost, whole_inverse_is_the_largest_whole_number_within_the_budget) {
  Seeded random(test_seed());
  for (int round = 0; round < 2000; ++round) {
    const CostPtr cost = random_cost(random.engine);
    const auto records = static_cast<std::int64_t>(round);
    const double budget = cost->value(static_cast<double>(records));
    const std::int64_t found = whole_inverse(*cost, budget, 1'000'000);
    EXPECT_GE(found, records) << random.note << " round " << round;
    EXPECT_LE(cost->value(static_cast<double>(found)), budget);
    if (found < 1'000'000) {
      EXPECT_GT(cost->value(static_cast<double>(found + 1)), budget);
    }
    EXPECT_LE(whole_inverse(*cost, budget, 7), 7);
  }
}

TEST(Cost, step_function_counts_out_of_core_passes_from_the_second_memory_full_on) {
  const CostPtr cost = step_cost({1, 100, 30});
  EXPECT_EQ(cost->value(100), 100);
  EXPECT_EQ(cost->value(101), 101 + 60);
  EXPECT_EQ(cost->value(200), 200 + 60);
  EXPECT_EQ(cost->value(201), 201 + 90);
  EXPECT_EQ(cost->inverse(100), 100);
  EXPECT_EQ(cost->inverse(159.9), 100);  // the second memory full starts at 160
  EXPECT_DOUBLE_EQ(cost->inverse(160.5), 100.5);
  EXPECT_EQ(cost->inverse(260), 200);
  EXPECT_EQ(cost->inverse(99), 99);
}

TEST(Cost, table_interpolates_to_zero_below_and_by_nlogn_above) {
  const CostPtr cost = table_cost({{100, 50}, {200, 150}, {400, 150}});
  EXPECT_DOUBLE_EQ(cost->value(50), 25);
  EXPECT_DOUBLE_EQ(cost->value(150), 100);
  EXPECT_DOUBLE_EQ(cost->value(800), 150 * (800 * std::log(800.0)) / (400 * std::log(400.0)));
  EXPECT_DOUBLE_EQ(cost->inverse(150), 400);  // the end of the flat part
  EXPECT_NEAR(cost->inverse(cost->value(800)), 800, 1e-9);
  EXPECT_TRUE(cost->non_decreasing());
}

TEST(Cost, falling_table_says_so_and_its_inverse_is_the_last_crossing) {
  const CostPtr cost = table_cost({{100, 50}, {200, 20}, {300, 80}});
  EXPECT_FALSE(cost->non_decreasing());
  EXPECT_DOUBLE_EQ(cost->inverse(50), 250);
  EXPECT_DOUBLE_EQ(cost->inverse(10), 20);
}

TEST(Cost, nlogn_inverse_survives_a_linear_part_that_dwarfs_the_logarithm) {
  const CostPtr cost = nlogn_cost({1e-6, 0, 1});  // the exponential of 1e6 does not fit a double
  EXPECT_NEAR(cost->inverse(cost->value(1e9)), 1e9, 1e-3);
  EXPECT_TRUE(std::isfinite(nlogn_cost({1e-300, 0, 1})->inverse(1e9)));
}

TEST(Cost, custom_function_is_searched_in_whole_records) {
  const CostPtr cost = custom_cost([](double n) { return n * n + 3; }, true);
  EXPECT_EQ(cost->value(0), 0);
  EXPECT_EQ(cost->inverse(103), 10);
  EXPECT_EQ(cost->inverse(102.9), 9);
  EXPECT_EQ(cost->inverse(1), 0);
  EXPECT_EQ(custom_cost([](double) { return 1.0; }, true)->inverse(1), kInfinity);
}

TEST(Cost, parameters_that_make_no_sense_are_refused) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double bad : {-1.0, nan, kInfinity}) {
    EXPECT_THROW(linear_cost(bad), PlanError);
    EXPECT_THROW(affine_cost({bad, 1}), PlanError);
    EXPECT_THROW(nlogn_cost({bad}), PlanError);
    EXPECT_THROW(power_cost(bad, 2), PlanError);
    EXPECT_THROW(power_cost(1, bad), PlanError);
    EXPECT_THROW(table_cost({{1, bad}}), PlanError);
    EXPECT_THROW(table_cost({{bad, 1}}), PlanError);
    EXPECT_THROW(step_cost({bad, 1, 1}), PlanError);
    EXPECT_THROW(scaled_cost(nlogn_cost(), bad), PlanError);
  }
  EXPECT_THROW(power_cost(1, 0), PlanError);
  EXPECT_THROW(scaled_cost(nlogn_cost(), 0), PlanError);
  EXPECT_THROW(table_cost({}), PlanError);
  EXPECT_THROW(table_cost({{5, 1}, {5, 2}}), PlanError);
  EXPECT_THROW(step_cost({1, 0, 1}), PlanError);
}

}  // namespace
}  // namespace hetsort::partition::test
