// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Fields and characters: which part of a line is a key.
#include "order/lines/line_fields.h"

#include <gtest/gtest.h>

#include <limits>

namespace hetsort::order::test {
namespace {

constexpr std::size_t kHighest = std::numeric_limits<std::size_t>::max();

/// Positions as {first field, first character, last field, last character}.
LineKey key(std::size_t first_field, std::size_t first_character, std::size_t last_field, std::size_t last_character) {
  return {first_field, first_character, last_field, last_character};
}

TEST(KeyText, fields_begin_behind_separators) {
  const std::string_view line = "a,bc,,d";
  EXPECT_EQ(key_text(line, key(1, 1, 1, 0), ','), "a");
  EXPECT_EQ(key_text(line, key(2, 1, 2, 0), ','), "bc");
  EXPECT_EQ(key_text(line, key(3, 1, 3, 0), ','), "");
  EXPECT_EQ(key_text(line, key(2, 1, 3, 0), ','), "bc,");
  EXPECT_EQ(key_text(line, key(2, 1, 0, 0), ','), "bc,,d");
  EXPECT_EQ(key_text(line, key(5, 1, 0, 0), ','), "");
  EXPECT_EQ(key_text(std::string_view("a\0b", 3), key(2, 1, 2, 0), '\0'), "b");
}

TEST(KeyText, without_separator_a_field_begins_with_its_blanks) {
  const std::string_view line = " a  bc\td";
  EXPECT_EQ(key_text(line, key(1, 1, 1, 0), {}), " a");
  EXPECT_EQ(key_text(line, key(2, 1, 2, 0), {}), "  bc");
  EXPECT_EQ(key_text(line, key(3, 1, 3, 0), {}), "\td");
  EXPECT_EQ(key_text(line, key(4, 1, 4, 0), {}), "");
}

TEST(KeyText, characters_may_lie_beyond_their_field_but_not_beyond_the_line) {
  const std::string_view line = "ab,cd,ef";
  EXPECT_EQ(key_text(line, key(2, 2, 0, 0), ','), "d,ef");
  EXPECT_EQ(key_text(line, key(1, 2, 2, 1), ','), "b,c");
  EXPECT_EQ(key_text(line, key(1, 4, 1, 5), ','), "cd");
  EXPECT_EQ(key_text(line, key(1, 9, 0, 0), ','), "");
  EXPECT_EQ(key_text(line, key(kHighest, kHighest, 0, 0), ','), "");
  EXPECT_EQ(key_text(line, key(1, 1, kHighest, kHighest), ','), line);
}

TEST(KeyText, is_empty_if_its_last_position_comes_before_its_first) {
  EXPECT_EQ(key_text("a b c", key(3, 1, 1, 0), {}), "");
  EXPECT_EQ(key_text("abcd", key(1, 3, 1, 2), {}), "");
  EXPECT_EQ(key_text("", key(1, 1, 0, 0), {}), "");
}

TEST(KeyText, characters_count_from_the_first_non_blank_where_blanks_are_skipped) {
  LineKey skipping = key(2, 2, 2, 2);
  EXPECT_EQ(key_text("a  xyz", skipping, {}), " ");
  skipping.skip_blanks_before_first = true;
  EXPECT_EQ(key_text("a  xyz", skipping, {}), "");
  skipping.skip_blanks_before_last = true;
  EXPECT_EQ(key_text("a  xyz", skipping, {}), "y");
}

}  // namespace
}  // namespace hetsort::order::test
