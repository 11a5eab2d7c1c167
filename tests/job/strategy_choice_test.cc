// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "job/shares/strategy_choice.h"

#include <gtest/gtest.h>

#include <vector>

#include "partition/problem.h"

namespace hetsort::job::test {
namespace {

TEST(StrategyChoice, is_exact_for_what_is_known) {
  EXPECT_EQ(usual_strategy({}), "equal");
  EXPECT_EQ(usual_strategy({.speeds = true}), "lambert");
  EXPECT_EQ(usual_strategy({.speeds = true, .cluster = true}), "threshold");
  EXPECT_EQ(usual_strategy({.cluster = true, .whole_runs = true}), "auto");
  EXPECT_EQ(usual_strategy({.cluster = true, .root_sends = true}), "auto");
  EXPECT_EQ(usual_strategy({.measures = true}), "auto");
}

TEST(StrategyChoice, auto_stands_for_a_strategy_that_suits_the_problem) {
  const partition::Problem problem = partition::problem_from_speeds(1000, std::vector<double>{1, 2});
  const partition::AutoChoice choice = choose_automatically(problem);
  EXPECT_EQ(choice.strategy.text, "lambert");
  EXPECT_FALSE(choice.reason.empty());
}

}  // namespace
}  // namespace hetsort::job::test
