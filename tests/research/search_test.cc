// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The searches of Nakazawa 2005, chapter 4: gbs, gs, ga, sa, and the distributions of Fig. 6.1.
#include <gtest/gtest.h>

#include "bench/research/mheta/program_problem.h"
#include "partition/error.h"
#include "partition/plan.h"
#include "tests/partition/problems.h"
#include "tests/research/mheta/programs.h"

namespace hetsort::research::test {
namespace {

using Rows = std::vector<std::int64_t>;

partition::Problem program_of(const std::string& program, const std::string& cluster) {
  auto model = std::make_shared<const ProgramModel>(model_of(program, cluster));
  return problem_of_program(model, model->program().rows);
}

TEST(Gbs, is_optimal_for_costs_that_never_fall) {
  partition::test::Seeded random(partition::test::test_seed());
  for (int round = 0; round < 1000; ++round) {
    const partition::Problem problem = partition::test::random_problem(random.engine, 8, 2000);
    const double optimum = partition::make_plan(problem, "threshold").makespan;
    ASSERT_NEAR(partition::make_plan(problem, "gbs:60").makespan, optimum, 1e-12 * optimum)
        << random.note << " round " << round;
  }
}

TEST(Gs, stops_where_the_fastest_node_cannot_take_a_record) {
  // The second node waits before a step of 100; the third could take records.
  const partition::Problem problem = partition::test::problem_with(
      40, {partition::linear_cost(1), partition::step_cost({.per_record = 0.1, .memory_records = 1, .io_step = 100}),
           partition::linear_cost(0.9)});
  EXPECT_GT(partition::make_plan(problem, "gs").makespan, partition::make_plan(problem, "gbs").makespan);
  EXPECT_EQ(partition::make_plan(problem, "gbs").makespan, partition::make_plan(problem, "threshold").makespan);
}

TEST(Searches, record_better_and_better_plans) {
  const partition::Problem problem = partition::problem_from_speeds(100'000, std::vector<double>{1, 2, 4, 8, 3, 5});
  for (const char* name : {"gbs", "gs", "ga", "sa"}) {
    const partition::Plan plan = partition::make_plan(problem, name);
    ASSERT_GE(plan.history.size(), 2u) << name;
    for (std::size_t i = 1; i < plan.history.size(); ++i) {
      EXPECT_LT(plan.history[i].makespan, plan.history[i - 1].makespan) << name;
      EXPECT_GE(plan.history[i].seconds, plan.history[i - 1].seconds) << name;
    }
    EXPECT_DOUBLE_EQ(plan.history.back().makespan, plan.makespan) << name;
    EXPECT_LE(plan.makespan, 1.2 * partition::make_plan(problem, "threshold").makespan) << name;
  }
}

TEST(Ga, begins_anew_until_restarts_bring_nothing_better_and_says_so) {
  // Two nodes: the search is over soon. It finds the optimum, which one population misses.
  const partition::Problem problem = partition::problem_from_speeds(1'000'000, std::vector<double>{1, 3});
  const partition::Plan plan = partition::make_plan(problem, "ga:60");
  EXPECT_NEAR(plan.makespan, partition::make_plan(problem, "threshold").makespan, 1e-3 * plan.makespan);
  EXPECT_EQ(plan.note.find("converged after "), 0U) << plan.note;
  EXPECT_EQ(
      partition::make_plan(partition::problem_from_speeds(1'000'000, std::vector<double>(100, 1.0)), "ga:0.02").note,
      "");
}

TEST(Searches, keep_to_their_time_and_refuse_one_that_makes_no_sense) {
  const partition::Problem problem = partition::problem_from_speeds(1'000'000, std::vector<double>(200, 1.0));
  for (const char* name : {"ga:0.01", "sa:0.01"})
    EXPECT_LT(partition::make_plan(problem, name).history.back().seconds, 0.5) << name;
  for (const char* name : {"gbs:0", "ga:-1", "sa:1e9", "gs:x"})
    EXPECT_THROW(partition::make_plan(problem, name), partition::PlanError) << name;
}

// Two sections that end together: 1 and 1 s for a row of the first node, 4 and 0.1 s on the second. Without waiting
// both nodes take 2 x 0 = 4.1 x 1, that is 0.67 of the rows; with waiting 0.8 are best.
TEST(Searches, waiting_defeats_gbs_and_gs_but_not_ga_and_sa) {
  const std::string barrier = "[[section]]\ncommunication = 'reduction'\n";
  const partition::Problem problem = program_of(
      "rows = 1000\n" + barrier + "stage = [{ per_row = [1, 4] }]\n" + barrier + "stage = [{ per_row = [1, 0.1] }]\n",
      equal_nodes(2));
  const double best = 1600;
  for (const char* blind : {"gbs", "gs", "threshold"})
    EXPECT_NEAR(partition::make_plan(problem, blind).program->seconds, 1.24 * best, 0.01 * best) << blind;
  for (const char* seeing : {"ga", "sa"})
    EXPECT_LE(partition::make_plan(problem, seeing).program->seconds, 1.02 * best) << seeing;
}

TEST(Spectrum, has_blocks_memory_and_balance_at_its_corners) {
  // Memory for 20 rows on the first two nodes and for 100 on the others; the last two compute four times as fast.
  const std::string program =
      "rows = 120\n[[variable]]\nname = 'a'\nrow_bytes = 10\n[[section]]\ncommunication = 'none'\n"
      "stage = [{ per_row = 1, reads = ['a'] }]\n";
  const std::string node = "disk_read = '1KB/s'\ndisk_write = '1KB/s'\n";
  const partition::Problem problem = program_of(program, "[[node]]\nspeed = 1\ncount = 2\nmemory = 200\n" + node +
                                                             "[[node]]\nspeed = 4\ncount = 2\nmemory = 1000\n" + node);
  EXPECT_EQ(partition::test::shares_of(partition::make_plan(problem, "spectrum:0")), (Rows{30, 30, 30, 30}));
  EXPECT_EQ(partition::test::shares_of(partition::make_plan(problem, "spectrum:1")), (Rows{20, 20, 40, 40}));
  EXPECT_EQ(partition::test::shares_of(partition::make_plan(problem, "spectrum:2")), (Rows{12, 12, 48, 48}));
  EXPECT_EQ(partition::test::shares_of(partition::make_plan(problem, "spectrum:3")), (Rows{12, 12, 48, 48}));
  EXPECT_EQ(partition::test::shares_of(partition::make_plan(problem, "spectrum:3.5")), (Rows{21, 21, 39, 39}));
  EXPECT_EQ(partition::test::shares_of(partition::make_plan(problem, "spectrum:4")), (Rows{30, 30, 30, 30}));
  EXPECT_THROW(partition::make_plan(problem, "spectrum:5"), partition::PlanError);
}

TEST(Spectrum, puts_only_the_fastest_node_on_disk_if_memory_is_short) {
  const std::string program =
      "rows = 100\n[[variable]]\nname = 'a'\nrow_bytes = 10\n[[section]]\ncommunication = 'none'\n"
      "stage = [{ per_row = 1, reads = ['a'] }]\n";
  const std::string node = "disk_read = '1KB/s'\ndisk_write = '1KB/s'\nmemory = 200\n";
  const partition::Problem problem =
      program_of(program, "[[node]]\nspeed = 1\ncount = 2\n" + node + "[[node]]\nspeed = 4\n" + node);
  EXPECT_EQ(partition::test::shares_of(partition::make_plan(problem, "spectrum:2")), (Rows{17, 16, 67}));
  EXPECT_EQ(partition::test::shares_of(partition::make_plan(problem, "spectrum:1")), (Rows{34, 33, 33}));
}

}  // namespace
}  // namespace hetsort::research::test
