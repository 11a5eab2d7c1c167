// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "gen/format/uint128.h"

#include <algorithm>

namespace hetsort::gen {

namespace {

std::string to_digits(Uint128 value, unsigned base) {
  std::string digits;
  do {
    digits += "0123456789abcdef"[static_cast<unsigned>(value % base)];
    value /= base;
  } while (value != 0);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

}  // namespace

std::string to_hex(Uint128 value) { return to_digits(value, 16); }
std::string to_decimal(Uint128 value) { return to_digits(value, 10); }

std::optional<Uint128> parse_uint128(std::string_view text) {
  constexpr Uint128 kMax = ~Uint128{0};
  if (text.empty()) return std::nullopt;
  Uint128 value = 0;
  for (const char letter : text) {
    if (letter < '0' || letter > '9') return std::nullopt;
    const auto digit = static_cast<unsigned>(letter - '0');
    if (value > (kMax - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  return value;
}

}  // namespace hetsort::gen
