// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "gen/format/uint128.h"

#include <gtest/gtest.h>

namespace hetsort::gen::test {
namespace {

TEST(Uint128, is_written_without_leading_zeros) {
  EXPECT_EQ(to_hex(make_uint128(1, 0) + 0xab), "100000000000000ab");
  EXPECT_EQ(to_hex(0), "0");
  EXPECT_EQ(to_decimal(0), "0");
  EXPECT_EQ(to_decimal(~Uint128{0}), "340282366920938463463374607431768211455");
}

TEST(ParseUint128, digits_up_to_128_bits_only) {
  EXPECT_TRUE(parse_uint128("340282366920938463463374607431768211455") == ~Uint128{0});
  EXPECT_TRUE(parse_uint128("0000000000000000000000000000000000000000000000007") == Uint128{7});
  for (const char* text : {"", "-1", "+1", " 1", "1 ", "0x1", "1e3", "340282366920938463463374607431768211456",
                           "3402823669209384634633746074317682114550"})
    EXPECT_FALSE(parse_uint128(text).has_value()) << text;
}

}  // namespace
}  // namespace hetsort::gen::test
