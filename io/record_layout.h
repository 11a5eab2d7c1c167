// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The layout of a record. Keys compare as unsigned bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hetsort::io {

inline constexpr std::uint64_t kMaxRecordBytes = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kMaxKeyBytes = 4096;

/// Fixed-size records with one key inside; by default those of the sort benchmark. Requires: 1 <= record_bytes <=
/// kMaxRecordBytes, 1 <= key_bytes <= kMaxKeyBytes, key_offset + key_bytes <= record_bytes.
struct RecordLayout {
  std::size_t record_bytes = 100;
  std::size_t key_offset = 0;
  std::size_t key_bytes = 10;

  bool operator==(const RecordLayout&) const = default;

  /// Three-way comparison of two whole keys, from key byte `depth` on.
  int compare(const std::byte* a, const std::byte* b, std::size_t depth = 0) const {
    return std::memcmp(a + key_offset + depth, b + key_offset + depth, key_bytes - depth);
  }
};

}  // namespace hetsort::io
