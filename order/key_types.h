// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The types of numbers that can be keys, by the names that users and reports give them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "order/record_layout.h"

namespace hetsort::order {

struct KeyType {
  std::string_view name;
  KeyKind kind;
  std::uint16_t bytes;
};

inline constexpr std::array kKeyTypes{KeyType{"u8", KeyKind::kUnsigned, 1},    KeyType{"u16", KeyKind::kUnsigned, 2},
                                      KeyType{"u32", KeyKind::kUnsigned, 4},   KeyType{"u64", KeyKind::kUnsigned, 8},
                                      KeyType{"u128", KeyKind::kUnsigned, 16}, KeyType{"i8", KeyKind::kSigned, 1},
                                      KeyType{"i16", KeyKind::kSigned, 2},     KeyType{"i32", KeyKind::kSigned, 4},
                                      KeyType{"i64", KeyKind::kSigned, 8},     KeyType{"i128", KeyKind::kSigned, 16},
                                      KeyType{"f16", KeyKind::kFloat, 2},      KeyType{"f32", KeyKind::kFloat, 4},
                                      KeyType{"f64", KeyKind::kFloat, 8}};

/// Appended to the name of a type whose numbers are big-endian.
inline constexpr std::string_view kBigEndian = "be";

}  // namespace hetsort::order
