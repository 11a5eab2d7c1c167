// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Judges consecutive records in memory: order, duplicates, count, checksum.
#pragma once

#include <cstddef>
#include <span>

#include "gen/record_format.h"
#include "gen/summary.h"

namespace hetsort::gen {

inline constexpr std::size_t kMaxRecordBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxKeyBytes = 4096;

/// Fixed-size records and where the key lies in them; keys compare as unsigned bytes.
struct RecordShape {
  std::size_t record_bytes = kRecordBytes;  ///< 1 to kMaxRecordBytes
  std::size_t key_offset = 0;
  std::size_t key_bytes = kKeyBytes;  ///< 1 to kMaxKeyBytes, inside the record

  bool operator==(const RecordShape&) const = default;
};

/// Thread safety: one thread at a time.
class Scanner {
 public:
  explicit Scanner(RecordShape shape) : shape_(shape) {}

  /// Adds the records that follow those added before. Requires: records.size() is a multiple of the record size.
  /// O(bytes): 5 ns a benchmark record in cache.
  void add(std::span<const std::byte> records);
  const Summary& summary() const { return summary_; }

 private:
  Summary summarize(std::span<const std::byte> records) const;

  RecordShape shape_;
  Summary summary_;
};

}  // namespace hetsort::gen
