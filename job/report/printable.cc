// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "job/report/printable.h"

#include <algorithm>
#include <array>

namespace hetsort::job {

namespace {

/// A character of UTF-8; no bytes = none.
struct Character {
  char32_t code = 0;
  std::size_t bytes = 0;
};

/// The character at the start of `text`, in its shortest form.
Character first_character(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = byte(0);
  if (text.empty()) return {};
  if (first < 0x80) return {first, 1};
  if (first < 0xc2 || first > 0xf4) return {};
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  char32_t code = first & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return {};
    code = code << 6U | (byte(i) & 0x3fU);
  }
  constexpr std::array<char32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
  return code < kLeast.at(length) || code > 0x10ffff || is_surrogate ? Character{} : Character{code, length};
}

/// Whether a terminal obeys the character instead of showing it, or shows what follows in another order or line.
bool is_control(char32_t code) noexcept {
  const auto within = [code](char32_t low, char32_t high) { return low <= code && code <= high; };
  if (within(0, 0x1f) || within(0x7f, 0x9f)) return true;
  const bool changes_direction =
      code == 0x61c || within(0x200e, 0x200f) || within(0x202a, 0x202e) || within(0x2066, 0x2069);
  return changes_direction || within(0x2028, 0x2029);
}

}  // namespace

std::size_t printable_bytes(std::string_view text) noexcept {
  const Character character = first_character(text);
  return character.bytes == 0 || is_control(character.code) ? 0 : character.bytes;
}

std::size_t character_bytes(std::string_view text) noexcept {
  return std::max<std::size_t>(1, first_character(text).bytes);
}

bool is_printable(std::string_view text) noexcept {
  std::size_t bytes = 1;
  for (; !text.empty() && bytes > 0; text.remove_prefix(bytes)) bytes = printable_bytes(text);
  return bytes > 0;
}

std::string with_replacements(std::string_view text, std::string_view replacement) {
  std::string result;
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    result += printable_bytes(text) > 0 ? text.substr(0, bytes) : replacement;
    text.remove_prefix(bytes);
  }
  return result;
}

}  // namespace hetsort::job
