// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The scatter strategies: exactness, the guarantee, ordering, participation, the choice of a root.
#include "partition/scatter.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "partition/error.h"
#include "partition/lower_bound.h"
#include "partition/plan.h"
#include "partition/strategies/scatter_model.h"
#include "partition/strategies/scatter_program.h"
#include "tests/partition/problems.h"

namespace hetsort::partition::test {
namespace {

/// A random scatter with linear costs only, or affine ones.
Problem random_lines(std::mt19937_64& random, bool affine) {
  const auto uniform = [&](double high) { return std::uniform_real_distribution<double>(0, high)(random); };
  std::vector<CostPtr> costs(std::uniform_int_distribution<std::size_t>(1, 8)(random));
  for (CostPtr& cost : costs) cost = affine_cost({affine ? uniform(20) : 0.0, 0.1 + uniform(5)});
  Problem problem = problem_with(std::uniform_int_distribution<std::int64_t>(1, 120)(random), costs);
  for (ProblemNode& node : problem.nodes) node.receive = affine_cost({affine ? uniform(5) : 0.0, uniform(3)});
  const auto root = std::uniform_int_distribution<std::size_t>(0, costs.size() - 1)(random);
  return arrange_scatter(std::move(problem), root, SendingOrder::kBandwidth);
}

TEST(ScatterExact, agrees_with_the_dynamic_program_on_500_random_problems) {
  Seeded random(test_seed());
  for (int round = 0; round < 500; ++round) {
    const Problem problem = random_scatter(random.engine, 6, 120);
    const Plan exact = make_plan(problem, "scatter-exact");
    const Plan oracle = make_plan(problem, "scatter-dp");
    ASSERT_NEAR(exact.makespan, oracle.makespan, 1e-12 * oracle.makespan) << random.note << " round " << round;
    ASSERT_LE(exact.lower_bound, exact.makespan);
    ASSERT_LE(scatter_lower_bound(problem), oracle.makespan * (1 + 1e-12)) << random.note << " round " << round;
  }
}

TEST(ScatterDp, is_the_best_of_all_shares_of_a_small_problem) {
  Seeded random(test_seed());
  for (int round = 0; round < 50; ++round) {
    Problem problem = random_scatter(random.engine, 3, 14);
    while (problem.nodes.size() < 3) problem = random_scatter(random.engine, 3, 14);
    double best = std::numeric_limits<double>::infinity();
    for (std::int64_t a = 0; a <= problem.records; ++a) {
      for (std::int64_t b = 0; a + b <= problem.records; ++b) {
        const std::vector<std::int64_t> shares{a, b, problem.records - a - b};
        bool fits = true;
        for (std::size_t i = 0; i < 3; ++i) fits = fits && shares[i] <= problem.nodes[i].max_records;
        if (!fits) continue;
        const std::vector<double> finish = finish_times(problem, shares);
        best = std::min(best, *std::max_element(finish.begin(), finish.end()));
      }
    }
    ASSERT_NEAR(make_plan(problem, "scatter-dp").makespan, best, 1e-12 * best) << random.note << " round " << round;
  }
}

TEST(ScatterClosed, keeps_its_guarantee_and_its_bound) {
  Seeded random(test_seed());
  for (int round = 0; round < 300; ++round) {
    const Problem problem = random_lines(random.engine, false);
    const Plan plan = make_plan(problem, "scatter-closed");
    const double optimum = make_plan(problem, "scatter-exact").makespan;
    ASSERT_TRUE(plan.guarantee);
    ASSERT_LE(plan.makespan, optimum + *plan.guarantee + 1e-9) << random.note << " round " << round;
    ASSERT_LE(plan.lower_bound, optimum * (1 + 1e-12)) << random.note << " round " << round;
    ASSERT_GE(plan.makespan, optimum * (1 - 1e-12));
  }
}

TEST(ScatterLp, keeps_its_guarantee_and_meets_the_closed_form) {
  if (!has_scatter_program()) {
    EXPECT_THROW(make_plan(arrange_scatter(grid_2003(), 0, SendingOrder::kBandwidth), "scatter-lp"), PlanError);
    return;
  }
  Seeded random(test_seed());
  for (int round = 0; round < 300; ++round) {
    const Problem problem = random_lines(random.engine, round % 2 == 1);
    const Plan plan = make_plan(problem, "scatter-lp");
    const double optimum = make_plan(problem, "scatter-dp").makespan;
    // With start-ups the program pays them all, used or not: the guarantee is to the optimum of that model.
    double idle_starts = 0;
    for (std::size_t i = 0; i < plan.nodes.size(); ++i)
      idle_starts += problem.nodes[i].compute->affine()->start +
                     (problem.nodes[i].receive ? problem.nodes[i].receive->affine()->start : 0.0);
    ASSERT_LE(plan.makespan, optimum + *plan.guarantee + idle_starts + 1e-6) << random.note << " round " << round;
    ASSERT_LE(plan.lower_bound, optimum * (1 + 1e-12)) << random.note << " round " << round;
    if (round % 2 == 0) {
      ASSERT_NEAR(plan.makespan, make_plan(problem, "scatter-closed").makespan, *plan.guarantee + 1e-6)
          << random.note << " round " << round;
    }
  }
}

TEST(ScatterLp, spends_no_more_than_its_guarantee_on_the_2003_grid) {
  if (!has_scatter_program()) return;
  const Plan plan = make_plan(arrange_scatter(grid_2003(), 0, SendingOrder::kBandwidth), "scatter-lp");
  EXPECT_LE(plan.makespan, 403.975230 + *plan.guarantee);
  EXPECT_NEAR(plan.makespan, 403.975230, 1e-5);
}

TEST(ScatterClosed, leaves_out_a_node_that_is_cheaper_to_skip) {
  // Sending a record to the first node takes longer than computing it at the root.
  Problem problem = problem_with(1000, {linear_cost(1e-9), linear_cost(1)});
  problem.nodes[0].receive = linear_cost(2);
  const Plan plan = make_plan(arrange_scatter(problem, 1, SendingOrder::kBandwidth), "scatter-closed");
  EXPECT_EQ(shares_of(plan), (std::vector<std::int64_t>{0, 1000}));
  EXPECT_DOUBLE_EQ(plan.makespan, 1000);
}

TEST(ScatterClosed, participation_looks_at_the_kept_nodes_only) {
  Seeded random(test_seed() + 4);
  for (int round = 0; round < 500; ++round) {
    std::vector<LinearNode> nodes(std::uniform_int_distribution<std::size_t>(1, 7)(random.engine));
    for (LinearNode& node : nodes) {
      node.receive_per_record = std::uniform_real_distribution<double>(0, 3)(random.engine);
      node.compute_per_record = std::uniform_real_distribution<double>(0.1, 3)(random.engine);
    }
    nodes.back().receive_per_record = 0;
    // The best rate over all subsets that hold the root.
    double best = std::numeric_limits<double>::infinity();
    for (unsigned subset = 0; subset < (1u << (nodes.size() - 1)); ++subset) {
      double inverse = 0;
      for (std::size_t i = nodes.size(); i-- > 0;) {
        if (i + 1 < nodes.size() && (subset >> i & 1u) == 0) continue;
        inverse =
            (1 + nodes[i].compute_per_record * inverse) / (nodes[i].receive_per_record + nodes[i].compute_per_record);
      }
      best = std::min(best, 1 / inverse);
    }
    ASSERT_NEAR(scatter_rate(nodes), best, 1e-12 * best) << random.note << " round " << round;
  }
}

TEST(ScatterClosed, free_nodes_take_everything) {
  Problem problem = problem_with(10, {linear_cost(1), linear_cost(0), linear_cost(1)});
  for (ProblemNode& node : problem.nodes) node.receive = linear_cost(0);
  const Plan plan = make_plan(arrange_scatter(problem, 2, SendingOrder::kGiven), "scatter-closed");
  EXPECT_EQ(plan.makespan, 0);
}

TEST(ArrangeScatter, sends_by_decreasing_bandwidth_and_to_the_root_last) {
  const Problem problem = arrange_scatter(grid_2003(), 0, SendingOrder::kBandwidth);
  EXPECT_EQ(problem.nodes.front().name, "caseb");
  EXPECT_EQ(problem.nodes[1].name, "pellinore");
  EXPECT_EQ(problem.nodes.back().name, "dinadan");
  EXPECT_EQ(problem.nodes.back().receive, nullptr);
  const Problem given = arrange_scatter(grid_2003(), 0, SendingOrder::kGiven);
  EXPECT_EQ(given.nodes.front().name, "pellinore");
  EXPECT_EQ(given.nodes.back().name, "dinadan");
}

TEST(ArrangeScatter, is_no_worse_than_any_other_order_for_linear_costs) {
  Problem problem = grid_2003();
  problem.nodes.erase(problem.nodes.begin() + 5, problem.nodes.begin() + 14);  // 7 nodes: 720 orders of the others
  const double best = make_plan(arrange_scatter(problem, 0, SendingOrder::kBandwidth), "scatter-closed").lower_bound;
  std::vector<std::size_t> order{1, 2, 3, 4, 5, 6};
  do {
    Problem other = problem;
    for (std::size_t i = 0; i < order.size(); ++i) other.nodes[i + 1] = problem.nodes[order[i]];
    const Plan plan = make_plan(arrange_scatter(other, 0, SendingOrder::kGiven), "scatter-closed");
    ASSERT_GE(plan.lower_bound, best * (1 - 1e-12));
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(ArrangeScatter, names_the_node_without_a_receive_cost) {
  Problem problem = grid_2003();
  problem.nodes[3].receive = nullptr;
  try {
    arrange_scatter(problem, 0, SendingOrder::kBandwidth);
    FAIL();
  } catch (const PlanError& error) {
    EXPECT_NE(std::string(error.what()).find("sekhmet"), std::string::npos) << error.what();
  }
}

TEST(ChooseRoot, weighs_the_transfer_to_the_root_against_its_plan) {
  const StrategyChoice closed = choose_strategy("scatter-closed");
  // The data's node has a slow processor but sending the data away first costs more than it gains.
  EXPECT_EQ(choose_root(grid_2003(), 0, SendingOrder::kBandwidth, closed).nodes.back().name, "dinadan");
  // Wherever the data may be, the root should be the node it is dearest to send to.
  const Problem anywhere = choose_root(grid_2003(), std::nullopt, SendingOrder::kBandwidth, closed);
  const double chosen = make_plan(anywhere, closed).makespan;
  for (std::size_t root = 0; root < 16; ++root)
    EXPECT_LE(chosen, make_plan(arrange_scatter(grid_2003(), root, SendingOrder::kBandwidth), closed).makespan);
}

TEST(ChooseRoot, counts_the_transfer_when_another_node_is_the_better_root) {
  // Node 0 holds the data and is far from everyone (its own link is the slow one when others send to it).
  Problem problem = problem_with(100, {linear_cost(50), linear_cost(1), linear_cost(1)});
  problem.nodes[0].receive = linear_cost(0);
  problem.nodes[1].receive = linear_cost(0.001);
  problem.nodes[2].receive = linear_cost(5);
  const Problem chosen = choose_root(problem, 0, SendingOrder::kBandwidth, choose_strategy("scatter-exact"));
  const Plan plan = make_plan(chosen, "scatter-exact");
  EXPECT_LE(plan.makespan, make_plan(arrange_scatter(problem, 0, SendingOrder::kBandwidth), "scatter-exact").makespan);
  if (chosen.nodes.back().name != "0") {
    EXPECT_GT(chosen.start_delay, 0);
  }
}

TEST(ChooseRoot, sends_from_each_candidate_over_its_own_links) {
  Problem problem = problem_with(100, {linear_cost(1), linear_cost(1), linear_cost(1)});
  // The node with the data has a slow link to the last node, and so has the last node to all others.
  problem.link_seconds = std::make_shared<const LinkMatrix>(LinkMatrix{{0, 0.1, 10}, {0.1, 0, 0.1}, {10, 10, 0}});
  const StrategyChoice exact = choose_strategy("scatter-exact");
  const Problem chosen = choose_root(problem, 0, SendingOrder::kBandwidth, exact);
  EXPECT_EQ(chosen.nodes.back().name, "1");
  EXPECT_DOUBLE_EQ(chosen.start_delay, 10);  // all records go to node 1 first
  // 36 records for node 0, which is served first, and 32 for each other node: 10 + 36 * 1.1.
  EXPECT_DOUBLE_EQ(make_plan(chosen, exact).makespan, 49.6);
  // Node 0 would keep 48 records and send 52 to node 1: 48 + 52 * 0.1 and 52 * 1.1.
  EXPECT_DOUBLE_EQ(make_plan(arrange_scatter(problem, 0, SendingOrder::kBandwidth), exact).makespan, 55);
  // If sending to a node cost the same from each root, all nodes would seem far from node 2.
  problem.link_seconds = nullptr;
  for (std::size_t i = 0; i < 3; ++i) problem.nodes[i].receive = linear_cost(i == 2 ? 10 : 0.1);
  EXPECT_EQ(choose_root(problem, 0, SendingOrder::kBandwidth, exact).nodes.back().name, "0");
}

TEST(ChooseRoot, keeps_the_links_of_the_nodes_that_are_kept) {
  Problem problem = problem_with(10, {linear_cost(1), linear_cost(2), linear_cost(3)});
  problem.link_seconds = std::make_shared<const LinkMatrix>(LinkMatrix{{0, 1, 2}, {3, 0, 4}, {5, 6, 0}});
  const std::vector<std::size_t> kept{2, 0};
  keep_nodes(problem, kept);
  EXPECT_EQ(problem.nodes[0].name, "2");
  EXPECT_EQ(*problem.link_seconds, (LinkMatrix{{0, 5}, {2, 0}}));
}

TEST(ScatterExact, refuses_a_problem_that_would_not_fit_in_memory) {
  EXPECT_THROW(make_plan(arrange_scatter(grid_2003(4'000'000'000), 0, SendingOrder::kBandwidth), "scatter-exact"),
               PlanError);
}

}  // namespace
}  // namespace hetsort::partition::test
