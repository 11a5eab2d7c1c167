// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/research/mheta/program_problem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "partition/plan.h"
#include "tests/partition/problems.h"
#include "tests/research/mheta/programs.h"

namespace hetsort::research::test {
namespace {

std::string example(const std::string& name) {
  std::ifstream file(std::string(HETSORT_EXAMPLES) + "/" + name + ".toml");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

partition::Problem example_problem(const std::string& program, const std::string& cluster) {
  auto model =
      std::make_shared<const ProgramModel>(model_of(example("program-" + program), example("mheta-" + cluster)));
  return problem_of_program(model, model->program().rows);
}

class EveryExample : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  partition::Problem problem() const { return example_problem(std::get<0>(GetParam()), std::get<1>(GetParam())); }
};

TEST_P(EveryExample, times_of_a_node_add_up_and_include_its_own_seconds) {
  const partition::Problem problem = this->problem();
  const partition::Plan plan = partition::make_plan(problem, "threshold");
  ASSERT_TRUE(plan.program);
  const bool all_have_rows =
      std::ranges::all_of(plan.nodes, [](const partition::NodePlan& node) { return node.records > 0; });
  double last = 0;
  for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
    const partition::NodeTimes& times = plan.program->nodes[i];
    last = std::max(last, times.seconds());
    for (const double part :
         {times.computing, times.reading, times.writing, times.sending, times.receiving, times.blocked})
      EXPECT_GE(part, 0);
    if (!all_have_rows) continue;
    const double own = node_seconds(dynamic_cast<const ProgramOnNodes&>(*problem.program).model(), i,
                                    static_cast<double>(plan.nodes[i].records));
    EXPECT_NEAR(times.seconds() - times.blocked, own, 1e-9 * own);
  }
  EXPECT_NEAR(plan.program->iteration_seconds, last, 1e-9 * last);
  EXPECT_GE(plan.program->seconds, plan.makespan * (1 - 1e-9));
}

TEST_P(EveryExample, an_unequal_plan_is_no_slower_than_equal_blocks_and_no_plan_beats_the_bound) {
  const partition::Problem problem = this->problem();
  const partition::Plan equal = partition::make_plan(problem, "equal");
  const partition::Plan planned = partition::make_plan(problem, "threshold");
  EXPECT_LE(planned.makespan, equal.makespan * (1 + 1e-9));
  EXPECT_LE(planned.lower_bound, planned.makespan);
  EXPECT_DOUBLE_EQ(planned.lower_bound, equal.lower_bound);
}

INSTANTIATE_TEST_SUITE_P(All, EveryExample,
                         ::testing::Combine(::testing::Values("jacobi", "cg", "lanczos", "rna"),
                                            ::testing::Values("dc", "io", "hy1", "hy2", "hy3")),
                         [](const auto& test) { return std::get<0>(test.param) + "_on_" + std::get<1>(test.param); });

TEST(ProgramCost, inverse_finds_the_last_rows_that_cost_no_more) {
  const partition::Problem problem = example_problem("jacobi", "hy1");
  for (const partition::ProblemNode& node : problem.nodes) {
    for (const double rows : {1.0, 100.0, 700.0, 5000.0}) {
      const double cost = node.compute->value(rows);
      const double inverse = node.compute->inverse(cost);
      EXPECT_GE(inverse, rows * (1 - 1e-9));
      EXPECT_LE(node.compute->value(inverse), cost);
    }
    EXPECT_EQ(node.compute->value(0), 0);
    EXPECT_EQ(node.compute->inverse(0), 0);
  }
}

}  // namespace
}  // namespace hetsort::research::test
