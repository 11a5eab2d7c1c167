// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What phases ask about records in memory: records of fixed size and lines answer alike.
#include "order/order.h"

#include <gtest/gtest.h>

#include <string>

#include "order/order_verifier.h"

namespace hetsort::order::test {
namespace {

constexpr std::size_t kRecordBytes = 4;

RecordLayout records() { return {.record_bytes = kRecordBytes, .key_offset = 1, .key_bytes = 2}; }

RecordLayout lines() {
  RecordLayout layout{.record_bytes = 1};
  layout.lines = std::make_shared<const LineOrder>(LineOptions{});
  return layout;
}

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

/// The border behind byte `at` of `text`, which begins with a record.
std::size_t border_behind(const RecordLayout& layout, const std::string& text, std::size_t at) {
  const std::byte* const first = bytes_of(text).data();
  return static_cast<std::size_t>(Order(layout).border_behind(first, first + at, first + text.size()) - first);
}

TEST(OrderOf, records_and_lines_finds_the_border_at_or_behind_a_byte) {
  EXPECT_EQ(border_behind(records(), "aaaabbbbcccc", 0), 0U);
  EXPECT_EQ(border_behind(records(), "aaaabbbbcccc", 4), 4U);
  EXPECT_EQ(border_behind(records(), "aaaabbbbcccc", 5), 8U);
  EXPECT_EQ(border_behind(records(), "aaaabbbbcc", 9), 10U);
  EXPECT_EQ(border_behind(lines(), "a\nbb\n\nc\n", 0), 0U);
  EXPECT_EQ(border_behind(lines(), "a\nbb\n\nc\n", 2), 2U);
  EXPECT_EQ(border_behind(lines(), "a\nbb\n\nc\n", 3), 5U);
  EXPECT_EQ(border_behind(lines(), "a\nbb\n\nc", 7), 7U);
}

TEST(OrderOf, records_and_lines_returns_whole_records_only) {
  const std::string two_records = "aaaabbbb";
  const std::string two_lines = "a\nbb\n";
  EXPECT_EQ(Order(records()).first_record(bytes_of(two_records)).size(), kRecordBytes);
  EXPECT_TRUE(Order(records()).first_record(bytes_of(two_records).first(3)).empty());
  EXPECT_TRUE(Order(records()).first_record({}).empty());
  EXPECT_EQ(Order(lines()).first_record(bytes_of(two_lines)).size(), 2U);
  EXPECT_TRUE(Order(lines()).first_record(bytes_of(two_lines).subspan(2, 2)).empty());
  EXPECT_FALSE(Order(records()).is_whole(bytes_of(two_records).first(7)));
  EXPECT_TRUE(Order(lines()).is_whole(bytes_of(two_lines)));
}

TEST(OrderOf, records_and_lines_compares_keys) {
  EXPECT_TRUE(Order(records()).are_equal(bytes_of("axxz"), bytes_of("bxxy")));
  EXPECT_LT(Order(records()).compare(bytes_of("zaaz"), bytes_of("aabz")), 0);
  EXPECT_FALSE(Order(lines()).are_equal(bytes_of("axxz\n"), bytes_of("axx\n")));
  EXPECT_GT(Order(lines()).compare(bytes_of("axxz\n"), bytes_of("axx\n")), 0);
}

TEST(OrderOf, records_and_lines_makes_the_lowest_key_of_a_prefix) {
  const std::string key = std::string("ab") + std::string(kReadableSlackBytes, '\0');
  const Element prefix = prefix_of_bytes(bytes_of(key).data(), kPrefixBytes);
  EXPECT_EQ(Order(RecordLayout{.record_bytes = 20, .key_offset = 0, .key_bytes = 12}).lowest_key(prefix),
            key.substr(0, 12));
  EXPECT_EQ(Order(records()).lowest_key(prefix), "ab");
  EXPECT_EQ(Order(lines()).lowest_key(prefix), "ab");
}

TEST(OrderVerifierOf, records_knows_the_first_one_that_is_below_the_one_before) {
  const std::string text = "_aa__ab__ac__aa__aa_" + std::string(kReadableSlackBytes, '\0');
  for (std::size_t cut = 1; cut <= 5; ++cut) {
    OrderVerifier verifier(records());
    verifier.inspect(bytes_of(text).data(), cut);
    verifier.inspect(bytes_of(text).data() + cut * kRecordBytes, 5 - cut);
    ASSERT_TRUE(verifier.first_disorder()) << cut;
    EXPECT_EQ(verifier.first_disorder()->record, 3U) << cut;
    EXPECT_EQ(verifier.first_disorder()->byte, 3 * kRecordBytes) << cut;
  }
}

TEST(OrderVerifierOf, lines_knows_the_longest_one) {
  const std::string text = "aaa\nb\ncc\n" + std::string(kReadableSlackBytes, '\0');
  OrderVerifier verifier(lines());
  verifier.inspect(bytes_of(text).data(), 2);
  verifier.inspect(bytes_of(text).data() + 2, 7);
  EXPECT_EQ(verifier.longest_line(), 4U);
}

TEST(OrderVerifierOf, another_rank_refuses_keys_of_another_length) {
  OrderVerifier::State state{.digest = {1, 1}, .checksum = {}};
  state.first_key.resize(3);
  EXPECT_THROW(OrderVerifier(records(), state), std::runtime_error);
  state.first_key.clear();
  EXPECT_THROW(OrderVerifier(lines(), state), std::runtime_error);
}

}  // namespace
}  // namespace hetsort::order::test
