// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/calibrate/repetition_rule.h"

#include <gtest/gtest.h>

#include <vector>

namespace hetsort::sort::test {
namespace {

TEST(RepetitionRule, wants_five_samples_after_the_first_and_a_narrow_interval) {
  EXPECT_FALSE(enough_repetitions(std::vector<double>{1, 1, 1, 1, 1}));
  EXPECT_TRUE(enough_repetitions(std::vector<double>{9, 1, 1, 1, 1, 1}));
  EXPECT_FALSE(enough_repetitions(std::vector<double>{1, 1, 1.1, 0.9, 1.05, 0.95}));
}

TEST(RepetitionRule, half_width_is_students) {
  EXPECT_EQ(relative_half_width(std::vector<double>{5}), 1);
  EXPECT_NEAR(relative_half_width(std::vector<double>{0.9, 1.1}), 1.27062, 1e-5);  // 12.7062 * 0.1
}

}  // namespace
}  // namespace hetsort::sort::test
