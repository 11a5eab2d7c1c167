// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/record_layout.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/sort/inputs.h"

namespace hetsort::sort::test {
namespace {

Element prefix_byte_by_byte(const RecordLayout& layout, const std::byte* record, std::size_t depth) {
  Element value = 0;
  for (std::size_t i = 0; i < kPrefixBytes; ++i) {
    const bool inside = depth + i < layout.key_bytes;
    value = value << 8 | (inside ? std::to_integer<unsigned>(record[layout.key_offset + depth + i]) : 0U);
  }
  return value << kPlaceBits;
}

RC_GTEST_PROP(RecordLayout, prefix_is_the_leading_key_bytes_wherever_the_key_stands, ()) {
  RecordLayout layout;
  layout.key_bytes = *rc::gen::inRange<std::size_t>(1, 60);
  layout.key_offset = *rc::gen::inRange<std::size_t>(0, 40);
  layout.record_bytes = layout.key_offset + layout.key_bytes + *rc::gen::inRange<std::size_t>(0, 3);
  const std::size_t depth = *rc::gen::inRange<std::size_t>(0, layout.key_bytes);
  const std::vector<std::byte> record =
      with_slack(make_records({Distribution::kUniform, layout, 1, *rc::gen::arbitrary<std::uint64_t>()}));
  RC_ASSERT(key_prefix(layout, record.data(), depth) == prefix_byte_by_byte(layout, record.data(), depth));
}

RC_GTEST_PROP(RecordLayout, prefixes_and_the_rest_of_keys_order_as_memcmp_does, ()) {
  const std::size_t key = *rc::gen::inRange<std::size_t>(1, 14);
  const RecordLayout layout{.record_bytes = key + 2, .key_offset = 1, .key_bytes = key};
  const auto distribution = *rc::gen::element(Distribution::kUniform, Distribution::kDeepTies, Distribution::kAllOnes);
  const std::vector<std::byte> records =
      with_slack(make_records({distribution, layout, 2, *rc::gen::arbitrary<std::uint64_t>()}));
  const std::byte* const a = records.data();
  const std::byte* const b = a + layout.record_bytes;
  const int order = std::memcmp(a + 1, b + 1, key);
  RC_ASSERT((layout.compare(a, b) < 0) == (order < 0));
  RC_ASSERT((layout.compare(a, b) == 0) == (order == 0));
  if (key_prefix(layout, a) != key_prefix(layout, b))
    RC_ASSERT((key_prefix(layout, a) < key_prefix(layout, b)) == (order < 0));
  if (prefix_is_whole_key(layout)) RC_ASSERT((key_prefix(layout, a) == key_prefix(layout, b)) == (order == 0));
}

TEST(RecordLayout, the_prefix_holds_whole_keys_of_up_to_ten_bytes) {
  EXPECT_TRUE((prefix_is_whole_key(RecordLayout{.record_bytes = 20, .key_offset = 0, .key_bytes = 10})));
  EXPECT_FALSE((prefix_is_whole_key(RecordLayout{.record_bytes = 20, .key_offset = 0, .key_bytes = 11})));
}

TEST(RecordLayout, an_element_holds_prefix_and_place_separately) {
  const Element element = Element{0xabcdef} << kPlaceBits | kPlaceMask;
  EXPECT_EQ(place_of(element), kPlaceMask);
  EXPECT_TRUE(prefix_of(element) == Element{0xabcdef} << kPlaceBits);
}

}  // namespace
}  // namespace hetsort::sort::test
