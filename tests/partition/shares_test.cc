// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Exactness of the shares, against the dynamic program and by properties.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "partition/error.h"
#include "partition/lower_bound.h"
#include "partition/plan.h"
#include "partition/rounding.h"
#include "partition/threshold.h"
#include "tests/partition/problems.h"

namespace hetsort::partition::test {
namespace {

TEST(Threshold, agrees_with_the_dynamic_program_on_500_random_problems) {
  Seeded random(test_seed());
  for (int round = 0; round < 500; ++round) {
    const Problem problem = random_problem(random.engine, 6, 120);
    const Plan exact = make_plan(problem, "threshold");
    const Plan oracle = make_plan(problem, "dp");
    ASSERT_NEAR(exact.makespan, oracle.makespan, 1e-12 * oracle.makespan) << random.note << " round " << round;
    ASSERT_LE(lower_bound(problem), oracle.makespan * (1 + 1e-14)) << random.note << " round " << round;
    ASSERT_EQ(sum_of(shares_of(exact)), problem.records);
  }
}

TEST(Threshold, respects_minima_and_agrees_with_the_dynamic_program) {
  Seeded random(test_seed() + 1);
  for (int round = 0; round < 200; ++round) {
    Problem problem = random_problem(random.engine, 5, 100);
    std::int64_t room = problem.records;
    for (ProblemNode& node : problem.nodes) {
      node.min_records =
          std::min(node.max_records, std::uniform_int_distribution<std::int64_t>(0, room / 2)(random.engine));
      room -= node.min_records;
    }
    const Plan exact = make_plan(problem, "threshold");
    ASSERT_NEAR(exact.makespan, make_plan(problem, "dp").makespan, 1e-12 * exact.makespan)
        << random.note << " round " << round;
  }
}

TEST(Threshold, no_single_move_from_the_last_node_helps) {
  Seeded random(test_seed() + 2);
  for (int round = 0; round < 300; ++round) {
    const Problem problem = random_problem(random.engine, 40, 100'000);
    const Plan plan = make_plan(problem, "threshold");
    const auto last = std::max_element(plan.nodes.begin(), plan.nodes.end(),
                                       [](const NodePlan& a, const NodePlan& b) { return a.finish < b.finish; });
    const auto from = static_cast<std::size_t>(last - plan.nodes.begin());
    for (std::size_t to = 0; to < plan.nodes.size(); ++to) {
      const std::int64_t with_one_more = plan.nodes[to].records + 1;
      if (to == from || with_one_more > problem.nodes[to].max_records) continue;
      std::vector<std::int64_t> moved = shares_of(plan);
      if (moved[from] == 0) continue;
      --moved[from];
      ++moved[to];
      const std::vector<double> finish = finish_times(problem, moved);
      ASSERT_GE(*std::max_element(finish.begin(), finish.end()), plan.makespan * (1 - 1e-14))
          << random.note << " round " << round;
    }
  }
}

TEST(Threshold, fills_in_index_order_where_the_count_jumps) {
  const CostPtr flat = table_cost({{1, 5}, {100, 5}});
  const Plan plan = make_plan(problem_with(150, {flat, flat}), "threshold");
  EXPECT_EQ(shares_of(plan), (std::vector<std::int64_t>{100, 50}));
  EXPECT_EQ(plan.makespan, 5);
}

TEST(Threshold, refuses_a_curve_that_falls_and_dp_plans_with_it) {
  const Problem problem = problem_with(150, {table_cost({{50, 100}, {100, 20}}), linear_cost(1)});
  EXPECT_THROW(make_plan(problem, "threshold"), PlanError);
  const Plan plan = make_plan(problem, "dp");
  EXPECT_GE(plan.nodes[0].records, 100);
  EXPECT_LT(plan.makespan, 51);
  EXPECT_LE(plan.lower_bound, plan.makespan);
}

TEST(DynamicProgram, on_a_grid_stays_near_the_optimum_and_keeps_every_record) {
  const Problem problem = problem_from_speeds(100'000'003, std::vector<double>{1, 2, 4, 8});
  const Plan plan = make_plan(problem, "dp");
  EXPECT_EQ(sum_of(shares_of(plan)), problem.records);
  EXPECT_LT(plan.makespan, 1.001 * plan.lower_bound);
  EXPECT_FALSE(plan.note.empty());
}

TEST(Lambert, is_the_threshold_optimum_for_n_ln_n_with_and_without_caps) {
  Seeded random(test_seed() + 3);
  for (int round = 0; round < 300; ++round) {
    std::vector<double> speeds(std::uniform_int_distribution<std::size_t>(1, 30)(random.engine));
    for (double& speed : speeds) speed = std::exp(std::uniform_real_distribution<double>(-3, 3)(random.engine));
    const auto records =
        static_cast<std::int64_t>(std::exp(std::uniform_real_distribution<double>(0, std::log(1e12))(random.engine)));
    Problem problem = problem_from_speeds(records, speeds);
    if (round % 2 == 1) {
      const std::int64_t least = records / static_cast<std::int64_t>(speeds.size()) + 1;
      for (ProblemNode& node : problem.nodes)
        node.max_records = std::uniform_int_distribution<std::int64_t>(least, 3 * least)(random.engine);
    }
    const Plan lambert = make_plan(problem, "lambert");
    const Plan threshold = make_plan(problem, "threshold");
    ASSERT_NEAR(lambert.makespan, threshold.makespan, 1e-13 * threshold.makespan) << random.note << " round " << round;
    const double bound = lower_bound(problem);
    ASSERT_LE(bound, threshold.makespan * (1 + 1e-14)) << random.note << " round " << round;
    ASSERT_NEAR(lambert.lower_bound, bound, 1e-12 * bound + 1e-12) << random.note << " round " << round;
  }
}

TEST(Lambert, fewer_records_than_nodes_go_to_the_fastest) {
  for (const char* strategy : {"lambert", "threshold", "equal", "proportional", "taylor", "power:2"}) {
    const Plan plan = make_plan(problem_from_speeds(2, std::vector<double>{1, 8, 4, 2}), strategy);
    EXPECT_EQ(shares_of(plan), (std::vector<std::int64_t>{0, 1, 1, 0})) << strategy;
  }
}

TEST(Proportional, is_exact_for_linear_costs) {
  const Problem problem = problem_from_speeds(100'003, std::vector<double>{1, 2.5, 4, 8}, linear_cost(1));
  EXPECT_NEAR(make_plan(problem, "proportional").makespan, make_plan(problem, "threshold").makespan, 1e-9);
}

TEST(Power, is_exact_for_its_exponent) {
  const Problem problem = problem_from_speeds(100'003, std::vector<double>{1, 2.5, 4, 8}, power_cost(1, 1.7));
  EXPECT_NEAR(make_plan(problem, "power:1.7").makespan, make_plan(problem, "threshold").makespan, 1e-6);
}

TEST(Rounding, hands_out_to_the_first_to_finish_and_takes_back_from_the_last) {
  const CostPtr slow = linear_cost(2);
  const CostPtr quick = linear_cost(1);
  const std::vector<CostedNode> nodes{{slow.get(), 0, 100}, {quick.get(), 0, 100}};
  EXPECT_EQ(round_shares(nodes, {3.4, 6.6}, 10), (std::vector<std::int64_t>{3, 7}));
  EXPECT_EQ(round_shares(nodes, {5, 5}, 8), (std::vector<std::int64_t>{4, 4}));  // scaled to the sum first
  std::vector<std::int64_t> shares{0, 0};
  hand_out(nodes, shares, 60);
  EXPECT_EQ(shares, (std::vector<std::int64_t>{20, 40}));
}

std::vector<double> arbitrary_speeds() {
  const auto steps = *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 1000)));
  std::vector<double> speeds;
  for (const int step : steps) speeds.push_back(step / 10.0);
  return speeds;
}

RC_GTEST_PROP(Shares, are_monotone_in_speed_and_equal_for_equal_nodes_up_to_one_record, ()) {
  const std::vector<double> speeds = arbitrary_speeds();
  const auto records = *rc::gen::inRange<std::int64_t>(0, 10'000'000'000);
  const auto name =
      *rc::gen::element<std::string>("lambert", "threshold", "proportional", "power:1.5", "lambert-asymptotic");
  const Problem problem = problem_from_speeds(records, speeds,
                                              name == "power:1.5"      ? power_cost(1, 1.5)
                                              : name == "proportional" ? linear_cost(1)
                                                                       : nlogn_cost());
  const std::vector<std::int64_t> shares = shares_of(make_plan(problem, name));
  RC_ASSERT(sum_of(shares) == records);
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    for (std::size_t j = 0; j < speeds.size(); ++j) {
      if (speeds[i] == speeds[j]) RC_ASSERT(std::abs(shares[i] - shares[j]) <= 1);
      if (speeds[i] < speeds[j]) RC_ASSERT(shares[i] <= shares[j]);
    }
  }
}

RC_GTEST_PROP(Shares, of_equal_nodes_differ_by_one_record_even_beyond_the_precision_of_a_double, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(1, 50);
  const auto records = std::numeric_limits<std::int64_t>::max() - *rc::gen::inRange<std::int64_t>(0, 1'000'000);
  const auto name = *rc::gen::element<std::string>("lambert", "threshold", "equal", "proportional");
  const std::vector<std::int64_t> shares =
      shares_of(make_plan(problem_from_speeds(records, std::vector<double>(count, 3.0)), name));
  RC_ASSERT(sum_of(shares) == records);
  const auto [least, most] = std::minmax_element(shares.begin(), shares.end());
  RC_ASSERT(*most - *least <= 1);
}

TEST(Shares, of_every_strategy_sum_up_to_the_largest_number_of_records) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t records : {kMax, kMax - 1})
    for (const std::size_t count : {1U, 2U, 7U}) {
      std::vector<double> speeds(count, 1.0);
      speeds.back() = 2.5;
      const Problem problem = problem_from_speeds(records, speeds);
      for (const Strategy* strategy : all_strategies()) {
        if (strategy->unsuitable && !std::string_view(strategy->unsuitable(problem)).empty()) continue;
        if (strategy->slow && strategy->slow(problem)) continue;
        constexpr double kSearchSeconds = 0.01;
        const double parameter = strategy->default_parameter ? strategy->default_parameter(problem) : kSearchSeconds;
        const Plan plan = make_plan(problem, StrategyChoice{strategy, parameter, std::string(strategy->name)});
        EXPECT_EQ(sum_of(shares_of(plan)), records) << strategy->name << ", " << count << " nodes";
      }
    }
}

RC_GTEST_PROP(Shares, of_a_faster_node_never_shrink, ()) {
  std::vector<double> speeds = arbitrary_speeds();
  const auto records = *rc::gen::inRange<std::int64_t>(0, 1'000'000);
  const auto which = *rc::gen::inRange<std::size_t>(0, speeds.size());
  const auto before = make_plan(problem_from_speeds(records, speeds), "threshold").nodes[which].records;
  speeds[which] *= 1.5;
  const auto after = make_plan(problem_from_speeds(records, speeds), "threshold").nodes[which].records;
  RC_ASSERT(after + 1 >= before);
}

}  // namespace
}  // namespace hetsort::partition::test
