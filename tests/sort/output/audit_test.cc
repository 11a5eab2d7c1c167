// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/output/audit.h"

#include "tests/sort/inputs.h"
#include "tests/sort/oracle.h"

namespace hetsort::sort::test {
namespace {

constexpr std::size_t kAuditRecords = 40;

/// Looks at the records in pieces that end at `ends`, each with an audit of its own when `append` is set.
OrderAudit audit_in_pieces(const Bytes& records, const RecordLayout& layout, const std::vector<std::size_t>& ends,
                           bool append) {
  OrderAudit whole(layout);
  std::size_t from = 0;
  for (const std::size_t end : ends) {
    OrderAudit own(layout);
    (append ? own : whole).inspect(records.data() + from * layout.record_bytes, end - from);
    if (append) whole.append(own);
    from = end;
  }
  return whole;
}

class OrderAuditTest : public testing::TestWithParam<RecordLayout> {
 protected:
  const RecordLayout layout_ = GetParam();
  Bytes sorted_ = with_slack(make_records({Distribution::kSorted, layout_, kAuditRecords, test_seed()}));

  void swap_neighbours(std::size_t number) {
    std::byte* const record = sorted_.data() + number * layout_.record_bytes;
    std::swap_ranges(record, record + layout_.record_bytes, record + layout_.record_bytes);
  }
  /// The last key byte alone tells the two apart.
  void spoil_last_key_byte(std::size_t number) {
    std::byte* const key = sorted_.data() + number * layout_.record_bytes + layout_.key_offset;
    std::memcpy(key, key - layout_.record_bytes, layout_.key_bytes);
    key[-static_cast<std::ptrdiff_t>(layout_.record_bytes) + static_cast<std::ptrdiff_t>(layout_.key_bytes) - 1] =
        std::byte{9};
    key[layout_.key_bytes - 1] = std::byte{8};
  }
};

TEST_P(OrderAuditTest, accepts_order_however_it_is_cut) {
  for (std::size_t cut = 0; cut <= kAuditRecords; ++cut)
    for (const bool append : {false, true}) {
      const OrderAudit audit = audit_in_pieces(sorted_, layout_, {cut, cut, kAuditRecords}, append);
      EXPECT_TRUE(audit.in_order());
      EXPECT_EQ(audit.tally().records, kAuditRecords);
      EXPECT_EQ(audit.tally(), audit_in_pieces(sorted_, layout_, {kAuditRecords}, false).tally());
    }
}

TEST_P(OrderAuditTest, finds_disorder_at_every_border_and_between) {
  for (std::size_t number = 0; number + 1 < kAuditRecords; ++number) {
    swap_neighbours(number);
    for (const std::size_t cut : {std::size_t{0}, number, number + 1, number + 2, kAuditRecords})
      for (const bool append : {false, true})
        EXPECT_FALSE(audit_in_pieces(sorted_, layout_, {cut, kAuditRecords}, append).in_order())
            << "records " << number << " and the next, cut at " << cut;
    swap_neighbours(number);
  }
}

TEST_P(OrderAuditTest, finds_disorder_across_an_empty_piece) {
  swap_neighbours(9);
  EXPECT_FALSE(audit_in_pieces(sorted_, layout_, {10, 10, 10, kAuditRecords}, true).in_order());
}

TEST_P(OrderAuditTest, finds_disorder_in_the_last_key_byte) {
  for (const std::size_t cut : {19U, 20U, 21U})
    for (const bool append : {false, true}) {
      Bytes before = sorted_;
      spoil_last_key_byte(20);
      EXPECT_FALSE(audit_in_pieces(sorted_, layout_, {cut, kAuditRecords}, append).in_order()) << cut;
      sorted_ = before;
    }
}

TEST_P(OrderAuditTest, accepts_equal_keys) {
  const Bytes equal = with_slack(make_records({Distribution::kAllEqual, layout_, kAuditRecords, test_seed()}));
  EXPECT_TRUE(audit_in_pieces(equal, layout_, {10, 20, kAuditRecords}, true).in_order());
}

INSTANTIATE_TEST_SUITE_P(Layouts, OrderAuditTest,
                         testing::Values(RecordLayout{100, 0, 10}, RecordLayout{30, 3, 27}, RecordLayout{10, 9, 1},
                                         RecordLayout{12, 1, 11}, RecordLayout{5000, 900, 4096}));

TEST(OrderAudit, of_nothing_is_in_order_and_empty) {
  OrderAudit audit(RecordLayout{});
  audit.inspect(nullptr, 0);
  audit.append(OrderAudit(RecordLayout{}));
  EXPECT_TRUE(audit.in_order());
  EXPECT_EQ(audit.tally(), Tally{});
}

TEST(Tally, tells_multisets_apart_and_not_orders) {
  const RecordLayout layout{.record_bytes = 100, .key_offset = 0, .key_bytes = 10};
  Bytes records = make_records({Distribution::kUniform, layout, 1000, test_seed()});
  const auto tally_of = [&](const Bytes& bytes) {
    Tally tally;
    tally.add(bytes.data(), bytes.size() / layout.record_bytes, layout.record_bytes);
    return tally;
  };
  const Tally tally = tally_of(records);
  EXPECT_EQ(tally_of(reference_sort(records, layout)), tally);
  Bytes duplicated = records;
  std::copy_n(duplicated.begin(), 100, duplicated.begin() + 500);
  EXPECT_NE(tally_of(duplicated), tally);
  records[12345] ^= std::byte{1};
  EXPECT_NE(tally_of(records), tally);
}

}  // namespace
}  // namespace hetsort::sort::test
