// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/output/permute.h"

#include "tests/sort/inputs.h"
#include "tests/sort/merge/collecting_sink.h"

namespace hetsort::sort::test {
namespace {

TEST(WritePermuted, copies_records_in_the_order_of_their_elements_and_verifies_them) {
  const StopFlag stop{false};
  for (const std::size_t record_bytes : {1U, 3U, 64U, 99U, 100U, 300U, 5000U, 70'000U}) {
    const RecordLayout layout{
        .record_bytes = record_bytes, .key_offset = 0, .key_bytes = std::min<std::size_t>(10, record_bytes)};
    for (const std::size_t count : {0U, 1U, 2U, 11U, 12U, 13U, 600U}) {
      const Bytes records = with_slack(make_records({Distribution::kUniform, layout, count, test_seed() + count}));
      const auto all = std::span(records).first(count * record_bytes);
      std::vector<Element> elements;
      for (const std::size_t number : reference_order(all, layout)) elements.push_back(number * record_bytes);
      CollectingSink sink(7 * record_bytes);
      OrderVerifier verifier(layout);
      write_permuted(elements, {records.data(), layout}, {sink, &verifier, stop});
      EXPECT_TRUE(is_sorted_form(sink.collected(), all, layout)) << record_bytes << " x " << count;
      EXPECT_TRUE(verifier.in_order());
      EXPECT_EQ(verifier.digest().records, count);
    }
  }
}

TEST(WritePermuted, verifies_the_written_records) {
  const StopFlag stop{false};
  const RecordLayout layout{.record_bytes = 10, .key_offset = 0, .key_bytes = 10};
  const Bytes records = with_slack(make_records({Distribution::kSorted, layout, 5, test_seed()}));
  const std::vector<Element> wrong{Element{0}, Element{20}, Element{10}, Element{30}};
  CollectingSink sink(100);
  OrderVerifier verifier(layout);
  write_permuted(wrong, {records.data(), layout}, {sink, &verifier, stop});
  EXPECT_FALSE(verifier.in_order());
  EXPECT_EQ(verifier.digest().records, 4U);
}

TEST(WritePermuted, ends_when_the_stop_flag_is_set) {
  const StopFlag stop{true};
  const RecordLayout layout{.record_bytes = 10, .key_offset = 0, .key_bytes = 10};
  const Bytes records = with_slack(make_records({Distribution::kSorted, layout, 5, test_seed()}));
  const std::vector<Element> elements{Element{0}, Element{10}};
  CollectingSink sink(100);
  OrderVerifier verifier(layout);
  EXPECT_THROW(write_permuted(elements, {records.data(), layout}, {sink, &verifier, stop}), Stopped);
}

}  // namespace
}  // namespace hetsort::sort::test
