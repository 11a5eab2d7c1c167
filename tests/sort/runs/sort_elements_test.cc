// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/runs/sort_elements.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <random>

#include "tests/sort/inputs.h"
#include "tests/sort/oracle.h"

namespace hetsort::sort::test {
namespace {

std::vector<Element> elements_of(const Bytes& records, const RecordLayout& layout, std::size_t count) {
  std::vector<Element> elements;
  for (std::size_t place = 0; place < count * layout.record_bytes; place += layout.record_bytes)
    elements.push_back(key_prefix(layout, records.data() + place) | place);
  return elements;
}

/// Sorts in the two steps of sort/ and compares with the oracle's order.
void expect_stable_order(const InputRequest& request, std::size_t threads) {
  SCOPED_TRACE(std::string(name_of(request.distribution)) + ", key of " + std::to_string(request.layout.key_bytes) +
               ", " + std::to_string(threads) + " threads");
  const Bytes records = with_slack(make_records(request));
  std::vector<Element> elements = elements_of(records, request.layout, request.records);
  std::vector<Element> with_room = elements;
  std::vector<Element> room(2 * elements.size());
  sort_elements(elements, threads);
  sort_elements(with_room, room);
  EXPECT_TRUE(with_room == elements);
  EXPECT_TRUE(std::is_sorted(elements.begin(), elements.end()));
  resolve_equal_prefixes(elements, records.data(), request.layout, threads);
  std::vector<std::size_t> order;
  for (const Element element : elements) order.push_back(place_of(element) / request.layout.record_bytes);
  const std::size_t bytes = request.records * request.layout.record_bytes;
  EXPECT_TRUE(order == reference_order(std::span(records).first(bytes), request.layout));
}

TEST(SortElements, orders_like_the_reference_for_all_distributions_and_key_lengths) {
  SCOPED_TRACE(seed_note());
  for (const Distribution distribution : kDistributions)
    for (const std::size_t key : {1U, 9U, 10U, 11U, 19U, 20U, 21U, 30U, 100U})
      expect_stable_order(
          {distribution, {.record_bytes = key + 5, .key_offset = 3, .key_bytes = key}, 3000, test_seed()}, 1);
}

TEST(SortElements, orders_large_groups_of_equal_prefixes_with_several_threads) {
  constexpr std::size_t kRecords = kSanitized ? 140'000 : 300'000;
  const RecordLayout layout{.record_bytes = 40, .key_offset = 1, .key_bytes = 36};
  for (const Distribution distribution : {Distribution::kSharedPrefix, Distribution::kDeepTies, Distribution::kAllEqual,
                                          Distribution::kOneOutlier, Distribution::kFewKeys})
    expect_stable_order({distribution, layout, kRecords, test_seed()}, 3);
}

TEST(SortElements, orders_the_few_elements_whose_leading_bits_are_equal) {
  std::mt19937_64 dice(test_seed());
  for (const std::size_t equal : {0, 1, 50, 3000})
    for (const int shift : {0, 3, 40, 64}) {
      std::vector<Element> elements;
      for (std::size_t i = 0; i < 6000; ++i) elements.push_back((Element{dice()} << shift << 16 | (6000 - i)));
      for (std::size_t i = 0; i < equal; ++i) elements[i] = elements[i + 3000] ^ 1;
      std::vector<Element> expected = elements;
      std::sort(expected.begin(), expected.end());
      std::vector<Element> room(elements.size() * 3 / 2);
      sort_elements(elements, room);
      EXPECT_TRUE(elements == expected) << seed_note() << equal << " equal, shifted by " << shift;
    }
}

TEST(SortElements, accepts_no_and_one_element) {
  std::vector<Element> none;
  sort_elements(none);
  sort_elements(none, 4);
  std::vector<Element> one{Element{7}};
  sort_elements(one);
  EXPECT_TRUE(one.front() == Element{7});
}

TEST(SortElements, orders_groups_around_the_size_from_which_prefixes_are_extracted_again) {
  const RecordLayout layout{.record_bytes = 32, .key_offset = 0, .key_bytes = 30};
  for (std::size_t records = 1; records < 40; ++records)
    for (const Distribution distribution : {Distribution::kSharedPrefix, Distribution::kDeepTies})
      expect_stable_order({distribution, layout, records, test_seed() + records}, 1);
}

TEST(SortElements, orders_the_longest_keys) {
  const RecordLayout layout{.record_bytes = 4100, .key_offset = 2, .key_bytes = kMaxKeyBytes};
  for (const Distribution distribution :
       {Distribution::kSharedPrefix, Distribution::kDeepTies, Distribution::kAllEqual})
    expect_stable_order({distribution, layout, 500, test_seed()}, 1);
}

RC_GTEST_PROP(SortElements, sorts_numbers, ()) {
  auto numbers = *rc::gen::arbitrary<std::vector<std::uint32_t>>();
  std::vector<Element> elements;
  for (const std::uint32_t number : numbers) elements.push_back(Element{number} << (number % 90));
  std::vector<Element> expected = elements;
  std::sort(expected.begin(), expected.end());
  sort_elements(elements);
  RC_ASSERT(elements == expected);
}

}  // namespace
}  // namespace hetsort::sort::test
