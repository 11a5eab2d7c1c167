// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/sort/oracle.h"

#include "tests/sort/inputs.h"

namespace hetsort::sort::test {
namespace {

class Oracle : public testing::Test {
 protected:
  // Keys from a small set, all payloads different: every key occurs in several records that differ.
  const RecordLayout layout_{.record_bytes = 12, .key_offset = 3, .key_bytes = 4};
  const Bytes input_ = make_records({Distribution::kFewKeys, layout_, 1000, test_seed()});
  Bytes output_ = reference_sort(input_, layout_);

  std::byte* record(std::size_t number) { return output_.data() + number * layout_.record_bytes; }
  bool same_key(std::size_t a, std::size_t b) { return layout_.compare(record(a), record(b)) == 0; }
  void swap_records(std::size_t a, std::size_t b) {
    std::swap_ranges(record(a), record(a) + layout_.record_bytes, record(b));
  }
  std::size_t first_with_equal_neighbour() {
    std::size_t number = 400;
    while (!same_key(number, number + 1)) ++number;
    return number;
  }
};

TEST_F(Oracle, accepts_the_stable_order) { EXPECT_TRUE(is_sorted_form(output_, input_, layout_)); }

TEST_F(Oracle, rejects_one_record_dropped_and_another_duplicated) {
  const std::size_t number = first_with_equal_neighbour();
  std::copy_n(record(number), layout_.record_bytes, record(number + 1));
  EXPECT_EQ(find_flaw(input_, layout_, output_), Flaw::kMultiset);
  EXPECT_FALSE(is_sorted_form(output_, input_, layout_));
}

TEST_F(Oracle, rejects_two_records_of_equal_keys_swapped) {
  const std::size_t number = first_with_equal_neighbour();
  swap_records(number, number + 1);
  EXPECT_EQ(find_flaw(input_, layout_, output_), Flaw::kStability);
  EXPECT_FALSE(is_sorted_form(output_, input_, layout_));
}

TEST_F(Oracle, rejects_one_flipped_payload_bit) {
  record(700)[0] ^= std::byte{0x04};
  EXPECT_EQ(find_flaw(input_, layout_, output_), Flaw::kMultiset);
  EXPECT_FALSE(is_sorted_form(output_, input_, layout_));
}

TEST_F(Oracle, rejects_two_records_of_different_keys_swapped) {
  swap_records(0, 999);
  EXPECT_EQ(find_flaw(input_, layout_, output_), Flaw::kOrder);
}

TEST_F(Oracle, rejects_output_that_is_shorter_or_longer) {
  output_.resize(output_.size() - layout_.record_bytes);
  EXPECT_EQ(find_flaw(input_, layout_, output_), Flaw::kSize);
  output_.resize(output_.size() + 2 * layout_.record_bytes);
  EXPECT_EQ(find_flaw(input_, layout_, output_), Flaw::kSize);
}

TEST_F(Oracle, accepts_nothing_sorted_into_nothing) { EXPECT_TRUE(is_sorted_form({}, {}, layout_)); }

TEST(Inputs, the_same_seed_makes_the_same_records) {
  for (const Distribution distribution : kDistributions) {
    const InputRequest request{distribution, {.record_bytes = 50, .key_offset = 9, .key_bytes = 33}, 500, 7};
    EXPECT_EQ(make_records(request), make_records(request)) << name_of(distribution);
  }
}

}  // namespace
}  // namespace hetsort::sort::test
