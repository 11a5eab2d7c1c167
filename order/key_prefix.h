// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Key prefixes of records, which the sort compares first.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "order/record_layout.h"

namespace hetsort::order {

/// Leading key bytes that an Element holds.
inline constexpr std::size_t kPrefixBytes = 10;
/// Bytes that are readable behind the last record in memory, so that loading a key prefix takes one instruction.
inline constexpr std::size_t kReadableSlackBytes = 16;

/// A record's key prefix and place. The upper 80 bits are the first bytes of the normalized key as a big-endian number,
/// zero-filled; the lower 48 bits are the record's byte offset in its memory, or another number that breaks ties.
/// Elements compare as numbers.
__extension__ typedef unsigned __int128 Element;
inline constexpr int kPlaceBits = 48;
inline constexpr std::uint64_t kPlaceMask = (std::uint64_t{1} << kPlaceBits) - 1;

inline std::uint64_t place_of(Element element) { return static_cast<std::uint64_t>(element) & kPlaceMask; }
inline Element prefix_of(Element element) { return element >> kPlaceBits << kPlaceBits; }

inline bool prefix_is_whole_key(const RecordLayout& layout) {
  return !layout.is_lines() && layout.key_bytes <= kPrefixBytes;
}

/// The bits of an Element that hold the first 1 to 10 of `length` bytes.
inline Element prefix_mask(std::size_t length) { return ~Element{0} << (128 - 8 * std::min(length, kPrefixBytes)); }

namespace detail {

/// The 16 bytes at `key` as a number, the first byte on top. Only the first min(length, 10) of them are meaningful.
inline Element load_prefix(const std::byte* key, [[maybe_unused]] std::size_t length) {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
#if defined(HETSORT_SANITIZE_THREAD)
  // Bytes behind the key may belong to a record that another thread is reading in. They are masked out later, which
  // ThreadSanitizer cannot know.
  length = std::min(length, kPrefixBytes);
  std::memcpy(&high, key, std::min(length, sizeof high));
  if (length > sizeof high) std::memcpy(&low, key + sizeof high, length - sizeof high);
#else
  std::memcpy(&high, key, sizeof high);
  std::memcpy(&low, key + sizeof high, sizeof low);
#endif
  return Element{__builtin_bswap64(high)} << 64 | __builtin_bswap64(low);
}

}  // namespace detail

/// The first 1 to 10 of the `length` bytes at `key` as an Element of place 0.
/// Requires: kReadableSlackBytes readable bytes from `key` on.
inline Element prefix_of_bytes(const std::byte* key, std::size_t length) {
  return detail::load_prefix(key, length) & prefix_mask(length);
}

namespace detail {

inline Element prefix_of_field(const KeyField& field, const std::byte* record) {
  if (field.kind != KeyKind::kBytes) return normalized_number(field, record);
  const Element bytes = prefix_of_bytes(record + field.offset, field.bytes);
  return field.descending ? bytes ^ prefix_mask(field.bytes) : bytes;
}

inline Element prefix_of_fields(const RecordLayout& layout, const std::byte* record) {
  Element prefix = 0;
  std::size_t bytes = 0;
  for (const KeyField& field : layout.fields) {
    if (bytes >= kPrefixBytes) break;
    prefix |= prefix_of_field(field, record) >> (8 * bytes);
    bytes += field.bytes;
  }
  return prefix_of(prefix);
}

}  // namespace detail

/// Computes the key prefix of a record from key byte 0 on, where the key is a plain range of bytes.
struct PlainPrefix {
  std::size_t key_offset;
  std::size_t key_bytes;
  Element mask = prefix_mask(key_bytes);

  Element operator()(const std::byte* record) const {
    return detail::load_prefix(record + key_offset, key_bytes) & mask;
  }
};

/// Computes the key prefix of a record whose key has fields.
struct FieldsPrefix {
  RecordLayout layout;

  Element operator()(const std::byte* record) const { return detail::prefix_of_fields(layout, record); }
};

/// Computes the key prefix of a record whose key is a single whole number.
template <typename Unsigned>
struct WholeNumberPrefix {
  std::size_t offset;
  Unsigned flipped;  ///< bits that differ from those of the normalized number
  bool big_endian;

  explicit WholeNumberPrefix(const KeyField& field)
      : offset(field.offset), flipped(field.descending ? ~Unsigned{0} : Unsigned{0}), big_endian(field.big_endian) {
    if (field.kind == KeyKind::kSigned) flipped ^= Unsigned{1} << (8 * sizeof flipped - 1);
  }
  Element operator()(const std::byte* record) const {
    if constexpr (sizeof(Unsigned) == sizeof(KeyNumber)) {
      return prefix_of(detail::load_number_16(record + offset, big_endian) ^ flipped);
    } else {
      Unsigned value = 0;
      std::memcpy(&value, record + offset, sizeof value);
      if (big_endian) value = sizeof value == 4 ? __builtin_bswap32(value) : __builtin_bswap64(value);
      return Element{static_cast<Unsigned>(value ^ flipped)} << (128 - 8 * sizeof value);
    }
  }
};

/// Returns use(prefix), where `prefix` computes key prefixes. Loops over records use it, so that the loop for a plain
/// key does not know of fields.
template <typename Use>
decltype(auto) with_key_prefix(const RecordLayout& layout, const Use& use) {
  if (layout.is_plain()) return use(PlainPrefix{layout.key_offset, layout.key_bytes});
  const KeyField& first = layout.fields.front();
  if (layout.fields.size() == 1 && (first.kind == KeyKind::kUnsigned || first.kind == KeyKind::kSigned)) {
    if (first.bytes == 16) return use(WholeNumberPrefix<KeyNumber>(first));
    if (first.bytes == 8) return use(WholeNumberPrefix<std::uint64_t>(first));
    if (first.bytes == 4) return use(WholeNumberPrefix<std::uint32_t>(first));
  }
  return use(FieldsPrefix{layout});
}

/// The key prefix of `record` as an Element of place 0, taken from key byte `depth` on.
/// Requires: depth < key_bytes; kReadableSlackBytes readable bytes behind the record.
inline Element key_prefix(const RecordLayout& layout, const std::byte* record, std::size_t depth = 0) {
  assert(depth < layout.key_bytes);
  if (layout.is_plain()) return prefix_of_bytes(record + layout.key_offset + depth, layout.key_bytes - depth);
  if (depth == 0) return detail::prefix_of_fields(layout, record);
  std::array<std::byte, kReadableSlackBytes> bytes{};
  const std::size_t length = std::min(layout.key_bytes - depth, kPrefixBytes);
  layout.normalize(record, depth, std::span(bytes).first(length));
  return prefix_of_bytes(bytes.data(), length);
}

/// Whether all reads of keys stay inside the record, so that nothing behind the last record is read.
bool keys_are_read_inside(const RecordLayout& layout);

/// What is wrong with record or keys: they are outside their limits, or a key reaches beyond the record. Empty if all
/// is right.
std::string mistake_in(const RecordLayout& layout);

/// The key as --key takes it, fields separated by commas: "0:10", or "0:u64,16:f64be:desc".
std::string key_text(const RecordLayout& layout);
/// One field of the key, as --key takes it.
std::string key_text(const KeyField& field);

}  // namespace hetsort::order
