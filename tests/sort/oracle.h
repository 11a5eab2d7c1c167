// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The oracle for sorted output. It shares no code with sort/: it sorts record numbers stably, by the values of the
// keys, and compares the output with that order, byte for byte. It distinguishes wrong order, wrong multiset and lost
// stability only to describe an error.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include "sort/model/record_order.h"
#include "tests/sort/typed_order.h"

namespace hetsort::sort::test {

using Bytes = std::vector<std::byte>;

enum class Flaw : std::uint8_t { kNone, kSize, kOrder, kMultiset, kStability };

inline std::string_view name_of(Flaw flaw) {
  switch (flaw) {
    case Flaw::kNone:
      return "none";
    case Flaw::kSize:
      return "size";
    case Flaw::kOrder:
      return "order";
    case Flaw::kMultiset:
      return "multiset";
    case Flaw::kStability:
      return "stability";
  }
  return "?";
}

/// Record numbers in the order of a stable sort by key.
inline std::vector<std::size_t> reference_order(std::span<const std::byte> records, const RecordLayout& layout) {
  std::vector<std::size_t> order(records.size() / layout.record_bytes);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto at = [&](std::size_t record) { return records.data() + record * layout.record_bytes; };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return compare_typed(layout, at(a), at(b)) < 0; });
  return order;
}

/// `records` in the order of `order`, one behind the other.
inline Bytes arranged(std::span<const std::byte> records, std::size_t record_bytes,
                      std::span<const std::size_t> order) {
  Bytes result;
  result.reserve(order.size() * record_bytes);
  for (const std::size_t number : order) {
    const auto record = records.subspan(number * record_bytes, record_bytes);
    result.insert(result.end(), record.begin(), record.end());
  }
  return result;
}

/// What the output must be.
inline Bytes reference_sort(std::span<const std::byte> records, const RecordLayout& layout) {
  return arranged(records, layout.record_bytes, reference_order(records, layout));
}

/// The first of the records with equal keys, of sorted records.
inline Bytes first_of_equal(std::span<const std::byte> sorted, const RecordLayout& layout) {
  Bytes result;
  for (std::size_t at = 0; at < sorted.size(); at += layout.record_bytes) {
    const auto record = sorted.subspan(at, layout.record_bytes);
    if (at > 0 && compare_typed(layout, record.data() - layout.record_bytes, record.data()) == 0) continue;
    result.insert(result.end(), record.begin(), record.end());
  }
  return result;
}

namespace detail {

inline bool keys_ascend(std::span<const std::byte> records, const RecordLayout& layout) {
  for (std::size_t at = layout.record_bytes; at < records.size(); at += layout.record_bytes) {
    const std::byte* const record = records.data() + at;
    if (compare_typed(layout, record - layout.record_bytes, record) > 0) return false;
  }
  return true;
}

/// The records in the order of all their bytes.
inline Bytes canonical(std::span<const std::byte> records, std::size_t record_bytes) {
  return reference_sort(records, {.record_bytes = record_bytes, .key_offset = 0, .key_bytes = record_bytes});
}

}  // namespace detail

/// What is wrong with `output` as the sorted form of `input`; of several flaws the first in the order of the enum.
inline Flaw find_flaw(std::span<const std::byte> input, const RecordLayout& layout, std::span<const std::byte> output) {
  if (output.size() != input.size()) return Flaw::kSize;
  const Bytes expected = reference_sort(input, layout);
  if (std::equal(expected.begin(), expected.end(), output.begin())) return Flaw::kNone;
  if (!detail::keys_ascend(output, layout)) return Flaw::kOrder;
  if (detail::canonical(input, layout.record_bytes) != detail::canonical(output, layout.record_bytes))
    return Flaw::kMultiset;
  return Flaw::kStability;
}

/// Passes when `output` is exactly the stably sorted `input`.
inline testing::AssertionResult is_sorted_form(std::span<const std::byte> output, std::span<const std::byte> input,
                                               const RecordLayout& layout) {
  const Flaw flaw = find_flaw(input, layout, output);
  if (flaw == Flaw::kNone) return testing::AssertionSuccess();
  auto failure = testing::AssertionFailure() << "flaw: " << name_of(flaw);
  if (flaw == Flaw::kSize) return failure << ", " << output.size() << " bytes for " << input.size();
  const Bytes expected = reference_sort(input, layout);
  const auto differs = std::mismatch(expected.begin(), expected.end(), output.begin()).first - expected.begin();
  return failure << ", first wrong byte " << differs << " = record "
                 << static_cast<std::size_t>(differs) / layout.record_bytes;
}

/// Checks is_sorted_form() or, if `unique`, that the output has only the first of equal records.
inline testing::AssertionResult is_written_form(std::span<const std::byte> output, std::span<const std::byte> input,
                                                const RecordLayout& layout, bool unique) {
  if (!unique) return is_sorted_form(output, input, layout);
  const Bytes expected = first_of_equal(reference_sort(input, layout), layout);
  if (std::equal(expected.begin(), expected.end(), output.begin(), output.end())) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "not the first of equal records: " << output.size() << " bytes instead of "
                                     << expected.size();
}

}  // namespace hetsort::sort::test
