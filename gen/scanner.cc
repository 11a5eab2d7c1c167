// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "gen/scanner.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "gen/checksum/record_checksum.h"

namespace hetsort::gen {

namespace {

struct OrderCounts {
  std::uint64_t unordered = 0;
  std::uint64_t duplicates = 0;
};

/// A ten-byte key as a number. Numbers are compared without branches, so that random data take no longer than sorted
/// data.
Uint128 load_short_key(const std::byte* key) {
  std::uint64_t high = 0;
  std::uint16_t low = 0;
  std::memcpy(&high, key, sizeof(high));
  std::memcpy(&low, key + sizeof(high), sizeof(low));
  if constexpr (std::endian::native == std::endian::little) {
    high = __builtin_bswap64(high);
    low = __builtin_bswap16(low);
  }
  return make_uint128(high, low);
}

OrderCounts count_short_keys(const std::byte* key, std::size_t pairs, std::size_t step) {
  OrderCounts counts;
  Uint128 before = load_short_key(key);
  for (; pairs > 0; --pairs) {
    key += step;
    const Uint128 now = load_short_key(key);
    counts.unordered += now < before ? 1 : 0;
    counts.duplicates += now == before ? 1 : 0;
    before = now;
  }
  return counts;
}

OrderCounts count_keys(const std::byte* record, std::size_t pairs, const order::RecordLayout& layout) {
  if (layout.is_plain() && layout.key_bytes == kKeyBytes)
    return count_short_keys(record + layout.key_offset, pairs, layout.record_bytes);
  OrderCounts counts;
  for (; pairs > 0; --pairs, record += layout.record_bytes) {
    const int order = layout.compare(record, record + layout.record_bytes);
    counts.unordered += order > 0 ? 1 : 0;
    counts.duplicates += order == 0 ? 1 : 0;
  }
  return counts;
}

/// The place of the first unordered record behind `record`, which has place 0. Requires: there is one.
std::uint64_t first_unordered(const std::byte* record, const order::RecordLayout& layout, bool strict) {
  const int allowed = strict ? -1 : 0;
  std::uint64_t place = 1;
  for (; std::clamp(layout.compare(record, record + layout.record_bytes), -1, 1) <= allowed; ++place)
    record += layout.record_bytes;
  return place;
}

}  // namespace

Summary Scanner::summarize(std::span<const std::byte> records) const {
  const std::size_t count = records.size() / layout_.record_bytes;
  const std::byte* first = records.data();
  const std::byte* last = first + (count - 1) * layout_.record_bytes;
  const OrderCounts counts = count_keys(first, count - 1, layout_);
  Summary summary;
  summary.records = count;
  summary.strict = strict_;
  summary.unordered = counts.unordered + (strict_ ? counts.duplicates : 0);
  summary.duplicates = counts.duplicates;
  if (summary.unordered > 0) summary.first_unordered = first_unordered(first, layout_, strict_);
  summary.checksum = record_checksum(records, layout_.record_bytes);
  std::vector<std::byte> room;
  const std::byte* const first_key = layout_.key(first, room);
  summary.first_key.assign(first_key, first_key + layout_.key_bytes);
  const std::byte* const last_key = layout_.key(last, room);
  summary.last_key.assign(last_key, last_key + layout_.key_bytes);
  if (layout_.record_bytes == kRecordBytes) {
    std::copy_n(first, kRecordBytes, summary.first_record.begin());
    std::copy_n(last, kRecordBytes, summary.last_record.begin());
  }
  return summary;
}

void Scanner::add(std::span<const std::byte> records) {
  if (!records.empty()) summary_.append(summarize(records));
}

}  // namespace hetsort::gen
