// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/critical.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "partition/error.h"

namespace hetsort::partition::test {
namespace {

using Places = std::vector<std::size_t>;

TEST(CriticalNodes, takes_the_fewest_by_largest_capacity) {
  const std::vector<std::int64_t> capacities{10, 40, 20, 40};
  EXPECT_EQ(critical_nodes(capacities, 0), Places{});
  EXPECT_EQ(critical_nodes(capacities, 40), Places{1});
  EXPECT_EQ(critical_nodes(capacities, 41), (Places{1, 3}));
  EXPECT_EQ(critical_nodes(capacities, 81), (Places{1, 2, 3}));
  EXPECT_EQ(critical_nodes(capacities, 110), (Places{0, 1, 2, 3}));
}

TEST(CriticalNodes, says_by_how_much_all_are_too_small) {
  try {
    critical_nodes(std::vector<std::int64_t>{10, 20}, 37);
    FAIL();
  } catch (const PlanError& error) {
    EXPECT_NE(std::string(error.what()).find("7 fewer"), std::string::npos) << error.what();
  }
}

TEST(CriticalNodes, sums_beyond_63_bits_do_not_overflow) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(critical_nodes(std::vector<std::int64_t>{most, most, most}, most).size(), 1u);
}

}  // namespace
}  // namespace hetsort::partition::test
