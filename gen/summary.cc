// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "gen/summary.h"

#include <algorithm>
#include <cstdint>

namespace hetsort::gen {

namespace {

constexpr std::size_t kFirstUnorderedAt = 0x00;
constexpr std::size_t kUnorderedAt = 0x10;
constexpr std::size_t kRecordsAt = 0x20;
constexpr std::size_t kDuplicatesAt = 0x30;
constexpr std::size_t kChecksumAt = 0x40;
constexpr std::size_t kFirstRecordAt = 0x50;
constexpr std::size_t kLastRecordAt = 0xb4;
static_assert(kLastRecordAt + kRecordBytes == kSummaryBytes);

/// Two little-endian words, the high one first.
void put(std::byte* into, Uint128 value) {
  for (std::size_t i = 0; i < 8; ++i) {
    into[i] = static_cast<std::byte>(high_half(value) >> 8 * i);
    into[8 + i] = static_cast<std::byte>(low_half(value) >> 8 * i);
  }
}

Uint128 get(const std::byte* from) {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  for (std::size_t i = 8; i-- > 0;) {
    high = high << 8 | static_cast<std::uint64_t>(from[i]);
    low = low << 8 | static_cast<std::uint64_t>(from[8 + i]);
  }
  return make_uint128(high, low);
}

bool consistent(const Summary& summary) {
  const Uint128 pairs = summary.records == 0 ? 0 : summary.records - 1;
  if (summary.unordered > pairs || summary.duplicates > pairs - summary.unordered) return false;
  return summary.unordered == 0 ? summary.first_unordered == 0
                                : summary.first_unordered >= 1 && summary.first_unordered <= pairs;
}

}  // namespace

void Summary::append(const Summary& next) {
  if (next.records == 0) return;
  if (records == 0) {
    *this = next;
    return;
  }
  const bool equal = next.first_key == last_key;
  if (next.first_key < last_key || (strict && equal)) {
    if (unordered == 0) first_unordered = records;
    ++unordered;
  }
  if (equal) ++duplicates;
  if (unordered == 0 && next.unordered != 0) first_unordered = records + next.first_unordered;
  unordered += next.unordered;
  records += next.records;
  duplicates += next.duplicates;
  checksum += next.checksum;
  last_key = next.last_key;
  last_record = next.last_record;
}

std::string Summary::report() const {
  std::string text;
  if (records == 0) text += "0 records\n";
  if (!in_order()) text += "First unordered record is record " + to_decimal(first_unordered) + "\n";
  text += "Records: " + to_decimal(records) + "\nChecksum: " + to_hex(checksum) + "\n";
  if (in_order()) return text + "Duplicate keys: " + to_decimal(duplicates) + "\nSUCCESS - all records are in order\n";
  return text + "ERROR - there are " + to_decimal(unordered) + " unordered records\n";
}

std::array<std::byte, kSummaryBytes> encode_summary(const Summary& summary) {
  std::array<std::byte, kSummaryBytes> bytes{};
  put(bytes.data() + kFirstUnorderedAt, summary.first_unordered);
  put(bytes.data() + kUnorderedAt, summary.unordered);
  put(bytes.data() + kRecordsAt, summary.records);
  put(bytes.data() + kDuplicatesAt, summary.duplicates);
  put(bytes.data() + kChecksumAt, summary.checksum);
  std::copy(summary.first_record.begin(), summary.first_record.end(), bytes.begin() + kFirstRecordAt);
  std::copy(summary.last_record.begin(), summary.last_record.end(), bytes.begin() + kLastRecordAt);
  return bytes;
}

std::optional<Summary> decode_summary(std::span<const std::byte, kSummaryBytes> bytes) {
  Summary summary;
  summary.first_unordered = get(bytes.data() + kFirstUnorderedAt);
  summary.unordered = get(bytes.data() + kUnorderedAt);
  summary.records = get(bytes.data() + kRecordsAt);
  summary.duplicates = get(bytes.data() + kDuplicatesAt);
  summary.checksum = get(bytes.data() + kChecksumAt);
  if (!consistent(summary)) return std::nullopt;
  if (summary.records == 0) return summary;
  std::copy_n(bytes.begin() + kFirstRecordAt, kRecordBytes, summary.first_record.begin());
  std::copy_n(bytes.begin() + kLastRecordAt, kRecordBytes, summary.last_record.begin());
  summary.first_key.assign(summary.first_record.begin(), summary.first_record.begin() + kKeyBytes);
  summary.last_key.assign(summary.last_record.begin(), summary.last_record.begin() + kKeyBytes);
  return summary;
}

}  // namespace hetsort::gen
