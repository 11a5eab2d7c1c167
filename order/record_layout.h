// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The layout of a record, and the normalized key: bytes that compare with memcmp as the record's keys do.
// docs/formats/keys.md describes the key types and their order.
#pragma once

#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace hetsort::order {

// Here and in order/key_prefix.h numbers are loaded and byte-swapped as on these machines. Spilled blocks, the
// exchange and sums of fingerprints have their bytes in memory order, too.
static_assert(std::endian::native == std::endian::little, "hetsort needs a little-endian machine");

inline constexpr std::uint64_t kMaxRecordBytes = std::uint64_t{1} << 20;
/// Maximum bytes of one key field, and of all key fields together.
inline constexpr std::uint64_t kMaxKeyBytes = 4096;
/// Maximum number of key fields. Those of few bytes cost the more, the more of them records have in common.
inline constexpr std::size_t kMaxKeyFields = 1024;

/// Plans and rates of lines count units of this many bytes, because the costs of cluster files are those of benchmark
/// records.
inline constexpr std::size_t kPlannedLineBytes = 100;
/// The bytes that a line is assumed to have where no sample was read.
inline constexpr std::uint64_t kGuessedLineBytes = 32;

class LineOrder;

enum class KeyKind : std::uint8_t { kBytes, kUnsigned, kSigned, kFloat };

/// A part of the record that is a key. Requires: 1 <= bytes <= kMaxKeyBytes; of a number 1, 2, 4, 8 or 16; of a
/// floating-point number 2, 4 or 8.
struct KeyField {
  std::uint32_t offset = 0;  ///< position of the field in the record
  std::uint16_t bytes = 0;
  KeyKind kind = KeyKind::kBytes;
  bool big_endian = false;
  bool descending = false;

  bool operator==(const KeyField&) const = default;
};

/// Records of fixed size with keys inside; by default those of the sort benchmark, whose key is one range of bytes.
/// Requires: 1 <= record_bytes <= kMaxRecordBytes, 1 <= key_bytes <= kMaxKeyBytes; all keys lie inside the record.
struct RecordLayout {
  std::size_t record_bytes = 100;
  std::size_t key_offset = 0;  ///< position of the record's first byte that belongs to a key
  std::size_t key_bytes = 10;  ///< length of the normalized key
  /// The key fields, most significant first. None = the key is consecutive bytes, which are their own normalized form.
  std::vector<KeyField> fields{};
  /// The records are lines in this order. Then record_bytes is 1: each byte of a line counts as a record whose key is
  /// the line's. A stable sort of these bytes by key is the sort of the lines, so that all sizes, positions and shares
  /// are in bytes. null = records of fixed size.
  std::shared_ptr<const LineOrder> lines{};

  bool operator==(const RecordLayout&) const = default;

  bool is_lines() const { return lines != nullptr; }

  /// The byte that ends each line; none if records have a fixed size.
  std::optional<std::byte> terminator() const;
  /// What a user calls a record.
  const char* record_name() const;
  /// The number of records in `units` units of record_bytes; 0 if it depends on what is in them.
  std::uint64_t records_in(std::uint64_t units) const { return is_lines() ? 0 : units; }
  /// The bytes that plans and rates count as one record.
  std::size_t planned_bytes() const { return is_lines() ? kPlannedLineBytes : record_bytes; }
  /// The bytes of a record; of a line, a guess.
  std::uint64_t guessed_bytes() const { return is_lines() ? kGuessedLineBytes : record_bytes; }
  /// The length of all normalized keys; 0 if they differ in length.
  std::size_t common_key_bytes() const { return is_lines() ? 0 : key_bytes; }

  bool is_plain() const { return fields.empty(); }
  std::span<const KeyField> key_fields() const { return fields; }
  /// Bytes of the record from key_offset on, among which all keys lie.
  std::size_t key_span_bytes() const;

  /// Three-way comparison of two whole keys. Requires: they are equal before byte `depth` of the normalized key.
  int compare(const std::byte* a, const std::byte* b, std::size_t depth = 0) const {
    assert(depth <= key_bytes);
    if (!is_plain()) return compare_fields(a, b, depth);
    return std::memcmp(a + key_offset + depth, b + key_offset + depth, key_bytes - depth);
  }
  /// The normalized key: in the record itself if the key is plain, otherwise in `room`.
  const std::byte* key(const std::byte* record, std::vector<std::byte>& room) const {
    if (is_plain()) return record + key_offset;
    room.resize(key_bytes);
    normalize(record, 0, room);
    return room.data();
  }
  /// Writes bytes [depth, depth + to.size()) of the normalized key. Requires: !is_plain(), they are part of it.
  void normalize(const std::byte* record, std::size_t depth, std::span<std::byte> to) const;

 private:
  int compare_fields(const std::byte* a, const std::byte* b, std::size_t depth) const;
};

/// The layout of records of `record_bytes` with these keys, most significant first. The field of a plain key is
/// dropped. Requires: 1 <= fields.size() <= kMaxKeyFields.
RecordLayout layout_with_keys(std::size_t record_bytes, std::span<const KeyField> fields);

/// The layout whose order is the reverse of this one's.
RecordLayout reversed(const RecordLayout& layout);

__extension__ typedef unsigned __int128 KeyNumber;

namespace detail {

template <typename Unsigned>
KeyNumber load_number(const std::byte* from, bool big_endian) {
  Unsigned value = 0;
  std::memcpy(&value, from, sizeof value);
  if constexpr (sizeof value == 2) value = big_endian ? __builtin_bswap16(value) : value;
  if constexpr (sizeof value == 4) value = big_endian ? __builtin_bswap32(value) : value;
  if constexpr (sizeof value == 8) value = big_endian ? __builtin_bswap64(value) : value;
  return KeyNumber{value} << (128 - 8 * sizeof value);
}

inline KeyNumber load_number_16(const std::byte* from, bool big_endian) {
  std::array<std::uint64_t, 2> halves{};
  std::memcpy(halves.data(), from, sizeof halves);
  if (big_endian) return KeyNumber{__builtin_bswap64(halves[0])} << 64 | __builtin_bswap64(halves[1]);
  return KeyNumber{halves[1]} << 64 | halves[0];
}

inline constexpr KeyNumber kSignBit = KeyNumber{1} << 127;

/// Infinity as a number of so many bytes, in the upper bits.
constexpr std::uint64_t infinity_bits(std::size_t bytes) {
  if (bytes == 2) return 0x7c00000000000000;
  return bytes == 4 ? 0x7f80000000000000 : 0x7ff0000000000000;
}

/// Negative numbers get all bits flipped, others the sign bit: then they compare as unsigned numbers. -0 becomes 0, and
/// every NaN becomes the largest number. Zeros follow the number's own bits.
inline KeyNumber normalize_float(KeyNumber value, std::size_t bytes) {
  const KeyNumber infinity = KeyNumber{infinity_bits(bytes)} << 64;
  const KeyNumber ones = ~KeyNumber{0} << (128 - 8 * bytes);
  if ((value & ~kSignBit) > infinity) return ones;
  if (value == kSignBit) value = 0;
  return (value & kSignBit) != 0 ? value ^ ones : value | kSignBit;
}

}  // namespace detail

/// The value of a numeric field as a number that compares as the field does: the field's bits are the upper bits, zeros
/// follow. Requires: the field is a number.
inline KeyNumber normalized_number(const KeyField& field, const std::byte* record) {
  assert(field.kind != KeyKind::kBytes);
  const std::byte* const from = record + field.offset;
  KeyNumber value = 0;
  switch (field.bytes) {
    case 1:
      value = detail::load_number<std::uint8_t>(from, false);
      break;
    case 2:
      value = detail::load_number<std::uint16_t>(from, field.big_endian);
      break;
    case 4:
      value = detail::load_number<std::uint32_t>(from, field.big_endian);
      break;
    case 8:
      value = detail::load_number<std::uint64_t>(from, field.big_endian);
      break;
    default:
      assert(field.bytes == 16);
      value = detail::load_number_16(from, field.big_endian);
  }
  if (field.kind == KeyKind::kSigned) value ^= detail::kSignBit;
  if (field.kind == KeyKind::kFloat) value = detail::normalize_float(value, field.bytes);
  return field.descending ? value ^ ~KeyNumber{0} << (128 - 8 * field.bytes) : value;
}

}  // namespace hetsort::order
