// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/checked.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hetsort::io::test {
namespace {

constexpr std::uint64_t kAlmost = (std::uint64_t{1} << 63) - 1;

TEST(Checked, sums_and_products_beyond_the_limit_are_refused_by_name) {
  EXPECT_EQ(checked_add(2, 3, "the sizes"), 5U);
  EXPECT_EQ(checked_add(kMaxTotalBytes - 1, 1, "the sizes"), kMaxTotalBytes);
  EXPECT_THROW(checked_add(kMaxTotalBytes, 1, "the sizes"), SizeError);
  // These wrap around to 8.
  EXPECT_THROW(checked_add(kAlmost + kAlmost, 10, "the sizes"), SizeError);
  EXPECT_EQ(checked_multiply(1U << 20U, 1U << 20U, "the records"), std::uint64_t{1} << 40U);
  EXPECT_THROW(checked_multiply(std::uint64_t{1} << 62U, 4, "the records"), SizeError);
  EXPECT_THROW(checked_multiply(std::uint64_t{1} << 62U, 3, "the records"), SizeError);
  try {
    checked_add(kAlmost, kAlmost, "the INPUTs");
  } catch (const SizeError& error) {
    EXPECT_EQ(std::string(error.what()), "the INPUTs are together more than 4 EiB (4611686018427387904 bytes)");
  }
}

TEST(Checked, any_double_has_a_nearest_whole_number) {
  EXPECT_EQ(saturated(2.9), 2U);
  EXPECT_EQ(saturated(-1), 0U);
  EXPECT_EQ(saturated(std::nan("")), 0U);
  EXPECT_EQ(saturated(-HUGE_VAL), 0U);
  EXPECT_EQ(saturated(HUGE_VAL), UINT64_MAX);
  EXPECT_EQ(saturated(0x1p64), UINT64_MAX);
  EXPECT_EQ(saturated(0x1p63), std::uint64_t{1} << 63U);
}

}  // namespace
}  // namespace hetsort::io::test
