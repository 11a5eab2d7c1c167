// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares keys as values of their types. It shares no code with the normalization of keys.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "sort/model/record_order.h"

namespace hetsort::sort::test {

namespace detail {

template <typename Value>
Value value_of(const KeyField& field, const std::byte* record) {
  std::array<std::byte, sizeof(Value)> bytes;
  std::memcpy(bytes.data(), record + field.offset, sizeof(Value));
  if (field.big_endian) std::reverse(bytes.begin(), bytes.end());
  return std::bit_cast<Value>(bytes);
}

template <typename Value>
int compare_numbers(const KeyField& field, const std::byte* a, const std::byte* b) {
  const Value of_a = value_of<Value>(field, a);
  const Value of_b = value_of<Value>(field, b);
  if constexpr (std::is_floating_point_v<Value>) {
    if (std::isnan(of_a) || std::isnan(of_b)) return static_cast<int>(std::isnan(of_a)) - std::isnan(of_b);
  }
  return of_a < of_b ? -1 : of_b < of_a ? 1 : 0;
}

/// A number of 16 bits, 10 of them behind the point, which not every compiler has as a type.
struct Half {
  std::uint16_t bits = 0;

  float value() const {
    const int exponent = bits >> 10 & 0x1f;
    const float fraction = static_cast<float>(bits & 0x3ff) / 1024;
    const float size = exponent == 0      ? std::ldexp(fraction, -14)
                       : exponent != 0x1f ? std::ldexp(1 + fraction, exponent - 15)
                       : fraction == 0    ? HUGE_VALF
                                          : std::nanf("");
    return std::copysign(size, (bits & 0x8000) != 0 ? -1.0F : 1.0F);
  }
};

inline int compare_floats(const KeyField& field, const std::byte* a, const std::byte* b) {
  if (field.bytes == 8) return compare_numbers<double>(field, a, b);
  if (field.bytes == 4) return compare_numbers<float>(field, a, b);
  const std::array halves{value_of<Half>(field, a).value(), value_of<Half>(field, b).value()};
  const KeyField whole{.bytes = sizeof(float), .kind = KeyKind::kFloat};
  return compare_numbers<float>(whole, reinterpret_cast<const std::byte*>(&halves[0]),
                                reinterpret_cast<const std::byte*>(&halves[1]));
}

__extension__ typedef unsigned __int128 Unsigned128;
__extension__ typedef __int128 Signed128;

/// The types have 1, 2, 4, 8 and 16 bytes.
template <typename Value1, typename Value2, typename Value4, typename Value8, typename Value16>
int compare_integers(const KeyField& field, const std::byte* a, const std::byte* b) {
  switch (field.bytes) {
    case 1:
      return compare_numbers<Value1>(field, a, b);
    case 2:
      return compare_numbers<Value2>(field, a, b);
    case 4:
      return compare_numbers<Value4>(field, a, b);
    case 8:
      return compare_numbers<Value8>(field, a, b);
    default:
      return compare_numbers<Value16>(field, a, b);
  }
}

inline int compare_ascending(const KeyField& field, const std::byte* a, const std::byte* b) {
  switch (field.kind) {
    case KeyKind::kBytes:
      return std::memcmp(a + field.offset, b + field.offset, field.bytes);
    case KeyKind::kUnsigned:
      return compare_integers<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, Unsigned128>(field, a, b);
    case KeyKind::kSigned:
      return compare_integers<std::int8_t, std::int16_t, std::int32_t, std::int64_t, Signed128>(field, a, b);
    case KeyKind::kFloat:
      return compare_floats(field, a, b);
  }
  return 0;
}

}  // namespace detail

/// Negative, 0 or positive as the keys of `a` are below, equal to or above those of `b`.
inline int compare_typed(const RecordLayout& layout, const std::byte* a, const std::byte* b) {
  if (layout.is_plain()) return std::memcmp(a + layout.key_offset, b + layout.key_offset, layout.key_bytes);
  for (const KeyField& field : layout.key_fields()) {
    const int order = detail::compare_ascending(field, a, b);
    if (order != 0) return field.descending ? -order : order;
  }
  return 0;
}

}  // namespace hetsort::sort::test
