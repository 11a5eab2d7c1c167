// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What phases ask about records in memory, whether these have a fixed size or are lines.
//
// In: a layout and bytes. Out: borders, counts, prefixes and comparisons of records. A record is a span of bytes; that
// of a line includes its terminator. Loops over all records choose once instead: with_records().
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "order/key_prefix.h"
#include "order/line_keys.h"

namespace hetsort::order {

/// Records of one fixed size.
struct FixedRecords {
  const RecordLayout& layout;
};

/// Returns use(records), where `records` is LineKeys if the records are lines, otherwise FixedRecords. An algorithm
/// that differs has an overload for each; the choice is made once for many records. Both refer to the layout.
template <typename Use>
decltype(auto) with_records(const RecordLayout& layout, const Use& use) {
  return layout.is_lines() ? use(LineKeys(*layout.lines)) : use(FixedRecords{layout});
}

/// Cheap to make. Keeps a reference to the layout.
class Order {
 public:
  explicit Order(const RecordLayout& layout) : layout_(layout) {
    if (layout.is_lines()) lines_.emplace(*layout.lines);
  }

  /// The end of the record at `first`; `end` if the record does not end before. Requires: first <= end.
  const std::byte* end_of_record(const std::byte* first, const std::byte* end) const;
  /// The first border of records at or behind `at`; `end` if there is none. Requires: a record begins at `first`;
  /// first <= at <= end.
  const std::byte* border_behind(const std::byte* first, const std::byte* at, const std::byte* end) const;
  /// The first record of `bytes`; empty if they contain no whole record.
  std::span<const std::byte> first_record(std::span<const std::byte> bytes) const;
  /// Whether `bytes`, which begin with a record, end with one.
  bool is_whole(std::span<const std::byte> bytes) const;

  /// The first bytes of the normalized key as an Element of place 0. Requires: kReadableSlackBytes readable bytes
  /// behind the record.
  Element prefix(std::span<const std::byte> record) const {
    return lines_ ? lines_->prefix(record) : key_prefix(layout_, record.data());
  }
  /// The prefix of the record at the front of a block of a run; 0 of blocks that may cut records. Requires: as
  /// prefix().
  Element block_prefix(std::span<const std::byte> block) const {
    return lines_ ? Element{0} : key_prefix(layout_, block.data());
  }
  /// The lowest normalized key with this prefix.
  std::string lowest_key(Element prefix) const;
  /// Three-way comparison of the keys of two records.
  int compare(std::span<const std::byte> a, std::span<const std::byte> b) const {
    return lines_ ? lines_->compare(a, b) : layout_.compare(a.data(), b.data());
  }
  /// Whether two records have the same key. Fast for lines whose prefixes differ.
  bool are_equal(std::span<const std::byte> a, std::span<const std::byte> b) const {
    return (!lines_ || lines_->prefix(a) == lines_->prefix(b)) && compare(a, b) == 0;
  }

 private:
  const RecordLayout& layout_;
  std::optional<LineKeys> lines_;
};

}  // namespace hetsort::order
