// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The layout of a record, and how keys compare: as unsigned bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hetsort::sort {

inline constexpr std::uint64_t kMaxRecordBytes = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kMaxKeyBytes = 4096;

/// Leading key bytes that an Element holds.
inline constexpr std::size_t kPrefixBytes = 10;
/// Memory holding records is readable this far behind the last record, so that a prefix is one load.
inline constexpr std::size_t kReadableSlackBytes = 16;

/// A record's key prefix and place. The upper 80 bits are the first key bytes as a big-endian number, zero-filled; the
/// lower 48 bits are the record's byte offset in its memory, or another number that breaks ties. Elements compare as
/// numbers.
__extension__ typedef unsigned __int128 Element;
inline constexpr int kPlaceBits = 48;
inline constexpr std::uint64_t kPlaceMask = (std::uint64_t{1} << kPlaceBits) - 1;

inline std::uint64_t place_of(Element element) { return static_cast<std::uint64_t>(element) & kPlaceMask; }
inline Element prefix_of(Element element) { return element >> kPlaceBits << kPlaceBits; }

/// Fixed-size records with one key inside. Requires: 1 <= record_bytes <= kMaxRecordBytes, 1 <= key_bytes <=
/// kMaxKeyBytes, key_offset + key_bytes <= record_bytes; check_layout() checks this.
struct RecordLayout {
  std::size_t record_bytes = 100;
  std::size_t key_offset = 0;
  std::size_t key_bytes = 10;

  bool prefix_is_whole_key() const { return key_bytes <= kPrefixBytes; }

  /// The key prefix of `record` as an Element of place 0, taken from key byte `depth` on.
  /// Requires: depth < key_bytes; kReadableSlackBytes readable bytes behind the record.
  Element prefix(const std::byte* record, std::size_t depth = 0) const {
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    const std::size_t length = key_bytes - depth < kPrefixBytes ? key_bytes - depth : kPrefixBytes;
#if defined(__SANITIZE_THREAD__)
    // Bytes behind the key may belong to a record that another thread is reading in. They are masked out below, which
    // ThreadSanitizer cannot know.
    std::memcpy(&high, record + key_offset + depth, length < sizeof high ? length : sizeof high);
    if (length > sizeof high) std::memcpy(&low, record + key_offset + depth + sizeof high, length - sizeof high);
#else
    std::memcpy(&high, record + key_offset + depth, sizeof high);
    std::memcpy(&low, record + key_offset + depth + sizeof high, sizeof low);
#endif
    const Element value = Element{__builtin_bswap64(high)} << 64 | __builtin_bswap64(low);
    return value >> (128 - 8 * length) << (128 - 8 * length);
  }

  /// Three-way comparison of two whole keys, from key byte `depth` on.
  int compare(const std::byte* a, const std::byte* b, std::size_t depth = 0) const {
    return std::memcmp(a + key_offset + depth, b + key_offset + depth, key_bytes - depth);
  }
};

/// Throws: RequestError when record or key are outside their limits or the key reaches beyond the record.
void check_layout(const RecordLayout& layout);

}  // namespace hetsort::sort
