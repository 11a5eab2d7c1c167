// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Published and recomputed figures that the planner must meet: Cerin, Dubacq, Roch 2006; Nakazawa 2005; Genaud,
// Giersch, Vivien 2003.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "partition/plan.h"
#include "partition/scatter.h"
#include "tests/partition/problems.h"

namespace hetsort::partition::test {
namespace {

using Counts = std::vector<std::int64_t>;

/// The ratio of the makespan to the real-valued optimum.
double ratio(const Problem& problem, std::string_view strategy) {
  return make_plan(problem, strategy).makespan / make_plan(problem, "lambert").lower_bound;
}

TEST(Vectors, a_million_records_on_speeds_1_2_4_8) {
  const Problem problem = problem_from_speeds(1'000'000, std::vector<double>{1, 2, 4, 8});
  for (const char* strategy : {"lambert", "threshold"}) {
    const Plan plan = make_plan(problem, strategy);
    EXPECT_EQ(shares_of(plan), (Counts{75106, 142137, 269712, 513045})) << strategy;
    EXPECT_NEAR(plan.makespan, 843197.0788, 5e-5) << strategy;
    EXPECT_NEAR(plan.lower_bound, 843195.5946, 5e-5) << strategy;
  }
  EXPECT_NEAR(ratio(problem, "proportional"), 1.04261, 5e-6);
  EXPECT_NEAR(ratio(problem, "taylor"), 1.00209, 5e-6);
  EXPECT_NEAR(ratio(problem, "lambert-asymptotic"), 1.00070, 5e-6);
  EXPECT_NEAR(ratio(problem, "equal") - 1, 2.69, 0.005);
}

TEST(Vectors, a_thousand_million_records_on_speeds_1_2_4_8) {
  const Problem problem = problem_from_speeds(1'000'000'000, std::vector<double>{1, 2, 4, 8});
  const std::vector<double> real{72092553.87, 139129608.48, 268817031.72, 519960805.93};
  const Plan plan = make_plan(problem, "lambert");
  for (std::size_t i = 0; i < real.size(); ++i) EXPECT_NEAR(static_cast<double>(plan.nodes[i].records), real[i], 1.0);
  EXPECT_NEAR(plan.lower_bound, 1.3044038e9, 50);
  EXPECT_NEAR(ratio(problem, "proportional"), 1.02702, 5e-6);
  EXPECT_NEAR(ratio(problem, "taylor"), 1.00089, 5e-6);
  EXPECT_NEAR(ratio(problem, "lambert-asymptotic"), 1.00035, 5e-6);
}

TEST(Vectors, the_96_nodes_of_the_2006_experiment) {
  std::vector<double> speeds(96, 2.0);
  std::fill(speeds.begin(), speeds.begin() + 48, 3.0);
  const Problem problem = problem_from_speeds(541'623'000, speeds);
  const Plan plan = make_plan(problem, "lambert");
  const Counts shares = shares_of(plan);
  EXPECT_EQ(std::count(shares.begin(), shares.begin() + 48, 6703688), 24);
  EXPECT_EQ(std::count(shares.begin(), shares.begin() + 48, 6703687), 24);
  EXPECT_EQ(std::count(shares.begin() + 48, shares.end(), 4580125), 48);
  EXPECT_NEAR(plan.makespan, 35123232.25, 5e-3);
  EXPECT_NEAR(plan.lower_bound, 35123230.07, 5e-3);
  EXPECT_NEAR(ratio(problem, "proportional"), 1.01057, 5e-6);
  EXPECT_NEAR(ratio(problem, "taylor"), 1.00190, 5e-6);
  EXPECT_NEAR(ratio(problem, "lambert-asymptotic"), 1.00016, 5e-6);
}

TEST(Vectors, rounding_takes_the_quotient_of_the_cost_and_not_of_the_records) {
  const Problem problem = problem_from_speeds(11, std::vector<double>{3, 3, 9}, power_cost(1, 2));
  for (const char* strategy : {"power:2", "threshold", "dp"}) {
    const Plan plan = make_plan(problem, strategy);
    EXPECT_EQ(shares_of(plan), (Counts{3, 3, 5})) << strategy;
    EXPECT_DOUBLE_EQ(plan.makespan, 3.0) << strategy;
  }
}

/// NumPy's legacy RandomState(seed).uniform(1, 10): 53 bits of two draws of the Mersenne Twister.
double legacy_uniform(std::mt19937& random) {
  const auto high = static_cast<double>(random() >> 5);
  const auto low = static_cast<double>(random() >> 6);
  return 1 + 9 * ((high * 67108864.0 + low) / 9007199254740992.0);
}

TEST(Vectors, independent_optima_for_n_ln_n_with_start_up_and_for_affine_costs) {
  std::vector<CostPtr> logarithmic;
  std::vector<CostPtr> affine;
  for (unsigned i = 0; i < 10; ++i) {
    std::mt19937 random(200 + i);
    const double a = legacy_uniform(random);
    const double b = legacy_uniform(random);
    logarithmic.push_back(custom_cost([=](double n) { return a + b * n * std::log1p(n); }, true));
    std::mt19937 other(100 + i);
    const double start = legacy_uniform(other);
    affine.push_back(affine_cost({start, legacy_uniform(other)}));
  }
  for (const char* strategy : {"threshold", "dp"}) {
    EXPECT_NEAR(make_plan(problem_with(1000, logarithmic), strategy).makespan, 2038.7049000481502, 1e-9) << strategy;
    EXPECT_NEAR(make_plan(problem_with(1000, affine), strategy).makespan, 370.44438892391184, 1e-10) << strategy;
  }
}

TEST(Vectors, out_of_core_steps_of_the_thesis) {
  const std::vector<CostPtr> costs{step_cost({1, 100, 30}), step_cost({2, 100, 30}), step_cost({1, 50, 50}),
                                   step_cost({0.5, 1000, 10})};
  EXPECT_DOUBLE_EQ(make_plan(problem_with(300, costs), "threshold").makespan, 72);
  EXPECT_DOUBLE_EQ(make_plan(problem_with(600, costs), "threshold").makespan, 169);
  const Plan plan = make_plan(problem_with(2400, costs), "threshold");
  EXPECT_DOUBLE_EQ(plan.makespan, 667.5);
  EXPECT_EQ(shares_of(plan), (Counts{500, 288, 317, 1295}));
}

TEST(Vectors, the_2003_grid_in_descending_bandwidth) {
  const Problem problem = arrange_scatter(grid_2003(), 0, SendingOrder::kBandwidth);
  const Counts published{87082, 42992, 82134, 24802, 24770, 41204, 41054, 40905,
                         40756, 40608, 40460, 40313, 40167, 95797, 93872, 40185};
  for (const char* strategy : {"scatter-closed", "scatter-exact"}) {
    const Plan plan = make_plan(problem, strategy);
    EXPECT_EQ(shares_of(plan), published) << strategy;
    EXPECT_NEAR(plan.makespan, 403.975230, 5e-7) << strategy;
    EXPECT_NEAR(plan.lower_bound, 403.973015, 5e-7) << strategy;
  }
}

TEST(Vectors, the_2003_grid_in_ascending_bandwidth) {
  Problem problem = arrange_scatter(grid_2003(), 0, SendingOrder::kBandwidth);
  std::reverse(problem.nodes.begin(), problem.nodes.end() - 1);
  EXPECT_NEAR(make_plan(problem, "scatter-closed").lower_bound, 414.382577, 5e-7);
  EXPECT_NEAR(make_plan(problem, "scatter-exact").makespan, 414.38, 0.01);
  EXPECT_NEAR(make_plan(problem, "scatter-closed").makespan, 414.38, 0.01);
}

TEST(Vectors, the_2003_grid_with_equal_shares) {
  const Plan plan = make_plan(arrange_scatter(grid_2003(), 0, SendingOrder::kBandwidth), "equal");
  double earliest = plan.makespan;
  for (const NodePlan& node : plan.nodes) earliest = std::min(earliest, node.finish);
  EXPECT_NEAR(earliest, 225.7, 0.05);
  EXPECT_NEAR(plan.makespan, 829.2, 0.05);
}

TEST(Vectors, eleven_virtual_processes_on_the_ratings_1_2_4_4) {
  const Plan plan = make_plan(problem_from_speeds(1'100'003, std::vector<double>{1, 2, 4, 4}), "emulated:11");
  EXPECT_EQ(shares_of(plan), (Counts{100'001, 200'002, 400'000, 400'000}));
  Counts processes;
  for (const NodePlan& node : plan.nodes) processes.push_back(node.processes);
  EXPECT_EQ(processes, (Counts{1, 2, 4, 4}));
}

}  // namespace
}  // namespace hetsort::partition::test
