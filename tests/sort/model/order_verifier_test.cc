// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/model/record_order.h"
#include "tests/sort/inputs.h"
#include "tests/sort/oracle.h"

namespace hetsort::sort::test {
namespace {

constexpr std::size_t kVerifiedRecords = 40;

/// Verifies the records in pieces that end at `ends`; with `append` each piece has a verifier of its own.
OrderVerifier verify_in_pieces(const Bytes& records, const RecordLayout& layout, const std::vector<std::size_t>& ends,
                               bool append) {
  OrderVerifier whole(layout);
  std::size_t from = 0;
  for (const std::size_t end : ends) {
    OrderVerifier own(layout);
    (append ? own : whole).inspect(records.data() + from * layout.record_bytes, end - from);
    if (append) whole.append(own);
    from = end;
  }
  return whole;
}

class OrderVerifierTest : public testing::TestWithParam<RecordLayout> {
 protected:
  const RecordLayout layout_ = GetParam();
  Bytes sorted_ = with_slack(make_records({Distribution::kSorted, layout_, kVerifiedRecords, test_seed()}));

  void swap_neighbours(std::size_t number) {
    std::byte* const record = sorted_.data() + number * layout_.record_bytes;
    std::swap_ranges(record, record + layout_.record_bytes, record + layout_.record_bytes);
  }
  /// Only the last key byte differs.
  void spoil_last_key_byte(std::size_t number) {
    std::byte* const key = sorted_.data() + number * layout_.record_bytes + layout_.key_offset;
    std::memcpy(key, key - layout_.record_bytes, layout_.key_bytes);
    key[-static_cast<std::ptrdiff_t>(layout_.record_bytes) + static_cast<std::ptrdiff_t>(layout_.key_bytes) - 1] =
        std::byte{9};
    key[layout_.key_bytes - 1] = std::byte{8};
  }
};

TEST_P(OrderVerifierTest, accepts_order_however_it_is_cut) {
  for (std::size_t cut = 0; cut <= kVerifiedRecords; ++cut)
    for (const bool append : {false, true}) {
      const OrderVerifier verifier = verify_in_pieces(sorted_, layout_, {cut, cut, kVerifiedRecords}, append);
      EXPECT_TRUE(verifier.in_order());
      EXPECT_EQ(verifier.digest().records, kVerifiedRecords);
      EXPECT_EQ(verifier.digest(), verify_in_pieces(sorted_, layout_, {kVerifiedRecords}, false).digest());
    }
}

TEST_P(OrderVerifierTest, finds_disorder_at_every_border_and_between) {
  for (std::size_t number = 0; number + 1 < kVerifiedRecords; ++number) {
    swap_neighbours(number);
    for (const std::size_t cut : {std::size_t{0}, number, number + 1, number + 2, kVerifiedRecords})
      for (const bool append : {false, true})
        EXPECT_FALSE(verify_in_pieces(sorted_, layout_, {cut, kVerifiedRecords}, append).in_order())
            << "records " << number << " and the next, cut at " << cut;
    swap_neighbours(number);
  }
}

TEST_P(OrderVerifierTest, finds_disorder_across_an_empty_piece) {
  swap_neighbours(9);
  EXPECT_FALSE(verify_in_pieces(sorted_, layout_, {10, 10, 10, kVerifiedRecords}, true).in_order());
}

TEST_P(OrderVerifierTest, finds_disorder_in_the_last_key_byte) {
  for (const std::size_t cut : {19U, 20U, 21U})
    for (const bool append : {false, true}) {
      Bytes before = sorted_;
      spoil_last_key_byte(20);
      EXPECT_FALSE(verify_in_pieces(sorted_, layout_, {cut, kVerifiedRecords}, append).in_order()) << cut;
      sorted_ = before;
    }
}

TEST_P(OrderVerifierTest, accepts_equal_keys) {
  const Bytes equal = with_slack(make_records({Distribution::kAllEqual, layout_, kVerifiedRecords, test_seed()}));
  EXPECT_TRUE(verify_in_pieces(equal, layout_, {10, 20, kVerifiedRecords}, true).in_order());
}

INSTANTIATE_TEST_SUITE_P(Layouts, OrderVerifierTest,
                         testing::Values(RecordLayout{100, 0, 10}, RecordLayout{30, 3, 27}, RecordLayout{10, 9, 1},
                                         RecordLayout{12, 1, 11}, RecordLayout{5000, 900, 4096}));

TEST(OrderVerifier, of_nothing_is_in_order_and_empty) {
  OrderVerifier verifier(RecordLayout{});
  verifier.inspect(nullptr, 0);
  verifier.append(OrderVerifier(RecordLayout{}));
  EXPECT_TRUE(verifier.in_order());
  EXPECT_EQ(verifier.digest(), MultisetDigest{});
}

TEST(MultisetDigest, depends_on_the_multiset_and_not_on_the_order) {
  const RecordLayout layout{.record_bytes = 100, .key_offset = 0, .key_bytes = 10};
  Bytes records = make_records({Distribution::kUniform, layout, 1000, test_seed()});
  const auto digest_of = [&](const Bytes& bytes) {
    MultisetDigest digest;
    digest.add(bytes.data(), bytes.size() / layout.record_bytes, layout.record_bytes);
    return digest;
  };
  const MultisetDigest digest = digest_of(records);
  EXPECT_EQ(digest_of(reference_sort(records, layout)), digest);
  Bytes duplicated = records;
  std::copy_n(duplicated.begin(), 100, duplicated.begin() + 500);
  EXPECT_NE(digest_of(duplicated), digest);
  records[12345] ^= std::byte{1};
  EXPECT_NE(digest_of(records), digest);
}

}  // namespace
}  // namespace hetsort::sort::test
