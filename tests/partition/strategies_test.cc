// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// One suite over every strategy: what all of them promise, whatever their model.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "partition/error.h"
#include "partition/plan.h"
#include "partition/scatter.h"
#include "tests/partition/problems.h"

namespace hetsort::partition::test {
namespace {

std::string with_parameter(const Strategy& strategy) {
  if (strategy.parameter.empty()) return std::string(strategy.name);
  const char* value = strategy.usual_parameter      ? ":0.01"  // seconds of a search
                      : strategy.name == "power"    ? ":1.5"
                      : strategy.name == "spectrum" ? ":2.5"
                                                    : ":13";
  return std::string(strategy.name) + value;
}

class EveryStrategy : public ::testing::TestWithParam<const Strategy*> {
 protected:
  std::string name() const { return with_parameter(*GetParam()); }
  bool for_scatter() const { return GetParam()->kind == Strategy::Kind::kScatter; }
  /// The dynamic programs get small problems only.
  std::int64_t max_records() const { return GetParam()->name.find("dp") == std::string_view::npos ? 5000 : 60; }

  /// A problem every strategy of this kind applies to: speeds, and linear costs for a scatter.
  Problem simple(std::int64_t records, const std::vector<double>& speeds) const {
    Problem problem = problem_from_speeds(records, speeds, for_scatter() ? linear_cost(1) : nlogn_cost());
    if (GetParam()->name == "phases") add_resources(problem);
    complete_problem()(*GetParam(), problem);
    if (!for_scatter()) return problem;
    for (std::size_t i = 0; i < problem.nodes.size(); ++i)
      problem.nodes[i].receive = linear_cost(0.01 * static_cast<double>(i));
    return arrange_scatter(std::move(problem), 0, SendingOrder::kBandwidth);
  }

  /// Nothing but processors takes time.
  static void add_resources(Problem& problem) {
    problem.run.emplace();
    for (ProblemNode& node : problem.nodes) {
      RankResources rank;
      rank.name = node.name;
      rank.host = static_cast<std::size_t>(&node - problem.nodes.data());
      rank.sort = node.compute;
      rank.merge_seconds = 1 / *node.speed;
      node.resources = std::make_shared<const RankResources>(std::move(rank));
    }
  }

  std::vector<double> random_speeds(std::mt19937_64& random) const {
    std::vector<double> speeds(std::uniform_int_distribution<std::size_t>(1, 9)(random));
    for (double& speed : speeds) speed = std::exp(std::uniform_real_distribution<double>(-2, 2)(random));
    return speeds;
  }
};

TEST_P(EveryStrategy, shares_sum_to_the_records_and_the_figures_agree) {
  Seeded random(test_seed());
  for (int round = 0; round < 200; ++round) {
    const auto records = std::uniform_int_distribution<std::int64_t>(0, max_records())(random.engine);
    const Problem problem = simple(records, random_speeds(random.engine));
    const Plan plan = make_plan(problem, name());
    const std::vector<std::int64_t> shares = shares_of(plan);
    ASSERT_EQ(sum_of(shares), records) << random.note << " round " << round;
    ASSERT_GE(*std::min_element(shares.begin(), shares.end()), 0);
    const std::vector<double> finish = finish_times(problem, shares);
    EXPECT_EQ(plan.makespan, *std::max_element(finish.begin(), finish.end()));
    EXPECT_LE(plan.lower_bound, plan.makespan);
    EXPECT_GE(plan.lower_bound, 0);
  }
}

TEST_P(EveryStrategy, zero_records_give_zero_for_every_node) {
  const Plan plan = make_plan(simple(0, {1, 2, 3}), name());
  EXPECT_EQ(shares_of(plan), (std::vector<std::int64_t>{0, 0, 0}));
  EXPECT_EQ(plan.makespan, 0);
  EXPECT_EQ(plan.lower_bound, 0);
}

TEST_P(EveryStrategy, one_node_gets_everything) {
  EXPECT_EQ(shares_of(make_plan(simple(50, {3}), name())), (std::vector<std::int64_t>{50}));
}

TEST_P(EveryStrategy, fewer_records_than_nodes_are_shared) {
  for (std::int64_t records = 1; records < 5; ++records)
    EXPECT_EQ(sum_of(shares_of(make_plan(simple(records, {1, 2, 3, 4, 5}), name()))), records);
}

TEST_P(EveryStrategy, no_node_at_all_is_an_error) {
  Problem problem;
  problem.records = 5;
  problem.scatter = for_scatter();
  EXPECT_THROW(make_plan(problem, name()), PlanError);
}

TEST_P(EveryStrategy, the_largest_number_of_records_does_not_overflow) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  try {
    const Plan plan = make_plan(simple(most, {1, 2.5, 4, 8}), name());
    EXPECT_EQ(sum_of(shares_of(plan)), most);
  } catch (const PlanError& error) {  // the scatter programs are O(N): they say so
    EXPECT_TRUE(name() == "scatter-dp" || name() == "scatter-exact") << error.what();
  }
}

TEST_P(EveryStrategy, caps_are_kept_or_the_strategy_says_that_it_cannot) {
  Problem problem = simple(40, {1, 2, 4, 8});
  for (ProblemNode& node : problem.nodes) node.max_records = 12;
  try {
    const std::vector<std::int64_t> shares = shares_of(make_plan(problem, name()));
    EXPECT_EQ(sum_of(shares), 40);
    EXPECT_LE(*std::max_element(shares.begin(), shares.end()), 12);
  } catch (const PlanError& error) {
    EXPECT_NE(std::string(error.what()).find("limits"), std::string::npos) << error.what();
    EXPECT_TRUE(name() == "emulated:13" || name() == "scatter-closed") << error.what();
  }
}

TEST_P(EveryStrategy, caps_that_cannot_hold_the_records_are_refused_by_how_much) {
  Problem problem = simple(40, {1, 2, 4});
  for (ProblemNode& node : problem.nodes) node.max_records = 11;
  try {
    make_plan(problem, name());
    FAIL() << "33 records of room for 40";
  } catch (const PlanError& error) {
    EXPECT_NE(std::string(error.what()).find("7 fewer"), std::string::npos) << error.what();
  }
}

TEST_P(EveryStrategy, extreme_speeds_neither_crash_nor_lose_records) {
  for (const std::vector<double>& speeds :
       {std::vector<double>{1e300, 1e-300}, {1e-300, 1e-300, 1e-300}, {1e300, 1e300}, {1, 1e15}}) {
    try {
      EXPECT_EQ(sum_of(shares_of(make_plan(simple(50, speeds), name()))), 50);
    } catch (const PlanError&) {  // a cost that does not fit a double, or a program the solver gives up
    }
  }
}

TEST_P(EveryStrategy, the_same_problem_gives_the_same_plan) {
  const Problem problem = simple(57, {1, 1, 3, 7});
  const std::string choice =
      GetParam()->usual_parameter ? std::string(GetParam()->name) + ":60" : name();  // to its end
  EXPECT_EQ(shares_of(make_plan(problem, choice)), shares_of(make_plan(problem, choice)));
}

INSTANTIATE_TEST_SUITE_P(All, EveryStrategy, ::testing::ValuesIn(all_strategies()), testing::PrintToStringParamName());

TEST(Strategies, unknown_name_is_answered_with_all_names) {
  try {
    choose_strategy("lambart");
    FAIL();
  } catch (const PlanError& error) {
    EXPECT_NE(std::string(error.what()).find("unknown strategy 'lambart'; known: equal, "), std::string::npos)
        << error.what();
  }
}

TEST(Strategies, parameters_are_demanded_refused_and_read) {
  EXPECT_THROW(choose_strategy("power"), PlanError);
  EXPECT_THROW(choose_strategy("power:"), PlanError);
  EXPECT_THROW(choose_strategy("power:x"), PlanError);
  EXPECT_THROW(choose_strategy("power:nan"), PlanError);
  EXPECT_THROW(choose_strategy("lambert:2"), PlanError);
  EXPECT_EQ(choose_strategy("power:1.5").parameter, 1.5);
  const Problem problem = problem_from_speeds(10, std::vector<double>{1, 2});
  for (const char* bad : {"power:0", "power:-1", "emulated:0", "emulated:1.5", "emulated:-3"})
    EXPECT_THROW(make_plan(problem, bad), PlanError) << bad;
}

TEST(Strategies, models_without_speeds_and_scatters_without_a_root_do_not_apply) {
  const Problem costs_only = problem_with(10, {linear_cost(1), linear_cost(2)});
  for (const char* name :
       {"proportional", "taylor", "lambert", "lambert-asymptotic", "power:2", "emulated:3", "learned", "phases"})
    EXPECT_THROW(make_plan(costs_only, name), PlanError) << name;
  for (const char* name : {"scatter-dp", "scatter-exact", "scatter-lp", "scatter-closed"})
    EXPECT_THROW(make_plan(costs_only, name), PlanError) << name;
}

TEST(Strategies, comparison_holds_every_strategy_that_applies_and_names_the_others) {
  const Comparison comparison = compare_strategies(problem_from_speeds(1000, std::vector<double>{1, 2, 4}));
  const std::size_t applicable = std::ranges::count_if(all_strategies(), [&](const Strategy* strategy) {
    return strategy->kind == Strategy::Kind::kShares && strategy->name != "phases" && strategy->name != "spectrum";
  });
  EXPECT_EQ(comparison.plans.size(), applicable);
  EXPECT_EQ(comparison.left_out.size(), all_strategies().size() - applicable);
  for (const TimedPlan& timed : comparison.plans) {
    EXPECT_EQ(timed.plan.records, 1000);
    EXPECT_LE(timed.plan.lower_bound, timed.plan.makespan);
    EXPECT_GE(timed.plan_seconds, 0);
  }
}

}  // namespace
}  // namespace hetsort::partition::test
