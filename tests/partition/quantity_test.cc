// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/text/quantity.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "partition/error.h"

namespace hetsort::partition::test {
namespace {

TEST(Quantity, plain_letters_and_ib_are_powers_of_1024_and_b_of_1000) {
  EXPECT_EQ(parse_bytes("64K", "x"), 65536);
  EXPECT_EQ(parse_bytes("64KiB", "x"), 65536);
  EXPECT_EQ(parse_bytes("64KB", "x"), 64000);
  EXPECT_EQ(parse_bytes("8GiB", "x"), std::int64_t{8} << 30);
  EXPECT_EQ(parse_bytes("4GB", "x"), 4'000'000'000);
  EXPECT_EQ(parse_bytes("1.5 G", "x"), std::int64_t{3} << 29);
  EXPECT_EQ(parse_bytes("2TiB", "x"), std::int64_t{1} << 41);
  EXPECT_EQ(parse_bytes("7m", "x"), 7 << 20);
  EXPECT_EQ(parse_bytes("12B", "x"), 12);
  EXPECT_EQ(parse_bytes("0", "x"), 0);
}

TEST(Quantity, no_suffix_takes_the_callers_unit) {
  EXPECT_EQ(parse_bytes("4096", "x"), 4096);
  EXPECT_EQ(parse_bytes("4096", "x", 1024), 4096 * 1024);
  EXPECT_EQ(parse_bytes("4096B", "x", 1024), 4096);
}

TEST(Quantity, whole_bytes_keep_all_digits) {
  EXPECT_EQ(parse_bytes("9223372036854775807", "x"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_bytes("9007199254740993", "x"), 9007199254740993);
}

TEST(Quantity, what_is_no_size_is_refused_by_name) {
  for (const char* bad : {"", "K", "-5", "-1G", "1X", "1KK", "1 2", "nan", "inf", "0x10", "1e3", "9223372036854775808",
                          "9P9", "100000P", "1/s", "8 GiB "})
    EXPECT_THROW(parse_bytes(bad, "memory"), PlanError) << bad;
  try {
    parse_bytes("lots", "memory");
    FAIL();
  } catch (const PlanError& error) {
    EXPECT_NE(std::string(error.what()).find("memory 'lots'"), std::string::npos);
  }
}

TEST(Quantity, rates_may_end_in_per_second_and_are_above_zero) {
  EXPECT_EQ(parse_bytes_per_second("500MB/s", "x"), 500e6);
  EXPECT_EQ(parse_bytes_per_second("1GiB/s", "x"), 1073741824.0);
  EXPECT_EQ(parse_bytes_per_second("2.5M", "x"), 2.5 * 1048576);
  EXPECT_THROW(parse_bytes_per_second("0", "x"), PlanError);
  EXPECT_THROW(parse_bytes_per_second("5MB/h", "x"), PlanError);
}

TEST(Quantity, links_are_given_in_bits_or_bytes) {
  EXPECT_EQ(parse_link_bytes_per_second("800mbit", "x"), 100e6);
  EXPECT_EQ(parse_link_bytes_per_second("1gbit", "x"), 125e6);
  EXPECT_EQ(parse_link_bytes_per_second("2.5kbit", "x"), 312.5);
  EXPECT_EQ(parse_link_bytes_per_second("100MB/s", "x"), 100e6);
  for (const char* bad : {"", "mbit", "0mbit", "-1mbit", "1xbit", "1 mbit", "nanmbit", "infbit", "fast", "0"})
    EXPECT_THROW(parse_link_bytes_per_second(bad, "x"), PlanError) << bad;
}

TEST(Quantity, times_have_a_unit) {
  EXPECT_DOUBLE_EQ(parse_seconds("200us", "x"), 200e-6);
  EXPECT_DOUBLE_EQ(parse_seconds("5ms", "x"), 5e-3);
  EXPECT_DOUBLE_EQ(parse_seconds("1.5s", "x"), 1.5);
  EXPECT_EQ(parse_seconds("0s", "x"), 0);
  for (const char* bad : {"", "5", "ms", "-1ms", "1 ms", "nans", "infs", "1h"})
    EXPECT_THROW(parse_seconds(bad, "x"), PlanError) << bad;
}

}  // namespace
}  // namespace hetsort::partition::test
