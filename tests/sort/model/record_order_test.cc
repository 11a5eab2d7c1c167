// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/model/record_order.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

#include "sort/failure/request_error.h"
#include "tests/sort/inputs.h"
#include "tests/sort/oracle.h"

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

/// Two records with typed keys, and their layout.
struct TypedPair {
  RecordLayout layout;
  std::vector<std::byte> records;

  const std::byte* a() const { return records.data(); }
  const std::byte* b() const { return records.data() + layout.record_bytes; }
};

TypedPair draw_typed_pair() {
  Dice dice(*rc::gen::arbitrary<std::uint64_t>());
  const auto record_bytes = *rc::gen::element<std::size_t>(1, 4, 9, 24, 100);
  const auto distribution = *rc::gen::element(Distribution::kUniform, Distribution::kDeepTies, Distribution::kAllOnes);
  const RecordLayout layout = draw_typed_layout(dice, record_bytes);
  return {layout, with_slack(make_records({distribution, layout, 2, dice.number()}))};
}

Bytes normalized(const RecordLayout& layout, const std::byte* record) {
  Bytes room;
  const std::byte* const key = layout.key(record, room);
  return {key, key + layout.key_bytes};
}

int sign(int order) { return order < 0 ? -1 : order > 0 ? 1 : 0; }

RC_GTEST_PROP(TypedKeys, normalized_keys_order_as_the_values_do, ()) {
  const TypedPair pair = draw_typed_pair();
  const Bytes a = normalized(pair.layout, pair.a());
  const Bytes b = normalized(pair.layout, pair.b());
  const int order = sign(compare_typed(pair.layout, pair.a(), pair.b()));
  RC_ASSERT(a.size() == pair.layout.key_bytes);
  RC_ASSERT(sign(std::memcmp(a.data(), b.data(), a.size())) == order);
  RC_ASSERT(sign(pair.layout.compare(pair.a(), pair.b())) == order);
}

RC_GTEST_PROP(TypedKeys, prefixes_and_parts_are_those_of_the_normalized_key, ()) {
  const TypedPair pair = draw_typed_pair();
  const RecordLayout& layout = pair.layout;
  const Bytes key = normalized(layout, pair.a());
  const std::size_t depth = *rc::gen::inRange<std::size_t>(0, layout.key_bytes);
  const RecordLayout as_bytes{.record_bytes = key.size(), .key_offset = 0, .key_bytes = key.size()};
  RC_ASSERT(key_prefix(layout, pair.a(), depth) == prefix_byte_by_byte(as_bytes, key.data(), depth));
  with_key_prefix(layout, [&](const auto& prefix) { RC_ASSERT(prefix(pair.a()) == key_prefix(layout, pair.a())); });
  if (layout.is_plain()) return;
  Bytes part(*rc::gen::inRange<std::size_t>(0, layout.key_bytes - depth + 1));
  layout.normalize(pair.a(), depth, part);
  RC_ASSERT(std::equal(part.begin(), part.end(), key.begin() + static_cast<std::ptrdiff_t>(depth)));
}

RC_GTEST_PROP(TypedKeys, keys_that_are_equal_before_a_depth_compare_from_there_on, ()) {
  const TypedPair pair = draw_typed_pair();
  const Bytes a = normalized(pair.layout, pair.a());
  const Bytes b = normalized(pair.layout, pair.b());
  const auto shared = static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
  const std::size_t depth = *rc::gen::inRange<std::size_t>(0, shared + 1);
  if (depth == pair.layout.key_bytes) return;
  RC_ASSERT(sign(pair.layout.compare(pair.a(), pair.b(), depth)) == sign(pair.layout.compare(pair.a(), pair.b())));
}

/// The normalized form of a double as the only key.
Bytes normalized(double value, bool descending = false) {
  const std::array fields{
      KeyField{.offset = 0, .bytes = sizeof value, .kind = KeyKind::kFloat, .descending = descending}};
  return normalized(order::layout_with_keys(sizeof value, fields), reinterpret_cast<const std::byte*>(&value));
}

TEST(TypedKeys, zeros_of_both_signs_are_equal_and_every_nan_is_the_last) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(normalized(0.0), normalized(-0.0));
  EXPECT_EQ(normalized(nan), normalized(-nan));
  EXPECT_EQ(normalized(nan), normalized(std::numeric_limits<double>::signaling_NaN()));
  EXPECT_LT(normalized(-infinity), normalized(-1.0));
  EXPECT_LT(normalized(-1.0), normalized(-std::numeric_limits<double>::denorm_min()));
  EXPECT_LT(normalized(0.0), normalized(std::numeric_limits<double>::denorm_min()));
  EXPECT_LT(normalized(infinity), normalized(nan));
  EXPECT_LT(normalized(nan, true), normalized(infinity, true));
  EXPECT_LT(normalized(infinity, true), normalized(-infinity, true));
}

TEST(TypedKeys, a_key_that_is_a_range_of_bytes_in_disguise_is_plain) {
  const KeyField big_endian{.offset = 4, .bytes = 8, .kind = KeyKind::kUnsigned, .big_endian = true};
  const RecordLayout layout = order::layout_with_keys(16, {&big_endian, 1});
  EXPECT_TRUE(layout.is_plain());
  EXPECT_EQ(layout, (RecordLayout{.record_bytes = 16, .key_offset = 4, .key_bytes = 8}));
  const KeyField descending{.offset = 0, .bytes = 8, .descending = true};
  EXPECT_FALSE(order::layout_with_keys(16, {&descending, 1}).is_plain());
}

TEST(TypedKeys, keys_longer_than_the_limit_together_are_refused) {
  const std::array fields{KeyField{.offset = 0, .bytes = 4000}, KeyField{.offset = 0, .bytes = 97}};
  EXPECT_THROW(check_layout(order::layout_with_keys(4000, fields)), RequestError);
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
