// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Key prefixes of records, which the sort compares first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "io/record_layout.h"

namespace hetsort::sort {

using io::kMaxKeyBytes;
using io::kMaxRecordBytes;
using io::RecordLayout;

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

inline bool prefix_is_whole_key(const RecordLayout& layout) { return layout.key_bytes <= kPrefixBytes; }

/// The key prefix of `record` as an Element of place 0, taken from key byte `depth` on.
/// Requires: depth < key_bytes; kReadableSlackBytes readable bytes behind the record.
inline Element key_prefix(const RecordLayout& layout, const std::byte* record, std::size_t depth = 0) {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  const std::byte* const key = record + layout.key_offset + depth;
  const std::size_t length = layout.key_bytes - depth < kPrefixBytes ? layout.key_bytes - depth : kPrefixBytes;
#if defined(HETSORT_SANITIZE_THREAD)
  // Bytes behind the key may belong to a record that another thread is reading in. They are masked out below, which
  // ThreadSanitizer cannot know.
  std::memcpy(&high, key, length < sizeof high ? length : sizeof high);
  if (length > sizeof high) std::memcpy(&low, key + sizeof high, length - sizeof high);
#else
  std::memcpy(&high, key, sizeof high);
  std::memcpy(&low, key + sizeof high, sizeof low);
#endif
  const Element value = Element{__builtin_bswap64(high)} << 64 | __builtin_bswap64(low);
  return value >> (128 - 8 * length) << (128 - 8 * length);
}

/// Throws: RequestError when record or key are outside their limits or the key reaches beyond the record.
void check_layout(const RecordLayout& layout);

}  // namespace hetsort::sort
