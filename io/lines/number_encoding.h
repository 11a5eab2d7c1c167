// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Encodings of keys that are numbers: -n, -h, -g.
//
// A decimal number has any number of digits. Zero is the byte 0x80. A positive number is a byte 0x81 + the number of
// its digits before the point, without leading zeros, then all its digits without trailing zeros, two a byte, each byte
// plus 1, and an end byte 0. From 125 digits before the point on the first byte is 0xfe and eight bytes with the number
// of digits follow. A negative number is the complement of its absolute value.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "io/lines/characters.h"

namespace hetsort::io {

/// A number in a text: blanks, '-', digits, '.', digits. All but one digit may be missing.
struct Decimal {
  bool negative = false;
  std::string_view whole;     ///< digits before the point, without leading zeros
  std::string_view fraction;  ///< digits after the point
  char next = 0;              ///< what follows the number; 0 at the end
};

inline std::string_view leading_digits(std::string_view text) {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  return text.substr(0, count);
}

inline std::string_view without_leading(std::string_view text, bool (*is_leading)(char)) {
  std::size_t at = 0;
  while (at < text.size() && is_leading(text[at])) ++at;
  return text.substr(at);
}

inline std::string_view without_trailing_zeros(std::string_view digits) {
  while (digits.ends_with('0')) digits.remove_suffix(1);
  return digits;
}

inline Decimal parse_decimal(std::string_view text) {
  Decimal number;
  text = without_leading(text, is_blank);
  number.negative = text.starts_with('-');
  if (number.negative) text.remove_prefix(1);
  text = without_leading(text, [](char c) { return c == '0'; });
  number.whole = leading_digits(text);
  text.remove_prefix(number.whole.size());
  if (text.starts_with('.')) {
    number.fraction = leading_digits(text.substr(1));
    text.remove_prefix(1 + number.fraction.size());
  }
  if (!text.empty()) number.next = text.front();
  return number;
}

template <class Sink>
void put_uint64(Sink& sink, std::uint64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) sink.put(static_cast<std::uint8_t>(number >> shift));
}

/// The value of a number's digit, 0 behind its last one.
inline unsigned digit_at(std::string_view whole, std::string_view fraction, std::size_t at) {
  if (at < whole.size()) return static_cast<unsigned>(whole[at] - '0');
  at -= whole.size();
  return at < fraction.size() ? static_cast<unsigned>(fraction[at] - '0') : 0;
}

template <class Sink>
void encode_decimal(Sink& sink, Decimal number) {
  constexpr unsigned kZero = 0x80;
  constexpr std::size_t kMaxShortCount = 124;
  number.fraction = without_trailing_zeros(number.fraction);
  if (number.whole.empty() && number.fraction.empty()) return sink.put(kZero);
  const std::size_t begin = sink.size();
  const std::size_t whole_digits = number.whole.size();
  sink.put(kZero + 1 + static_cast<unsigned>(std::min(whole_digits, kMaxShortCount + 1)));
  if (whole_digits > kMaxShortCount) put_uint64(sink, whole_digits);
  if (number.fraction.empty()) number.whole = without_trailing_zeros(number.whole);
  const std::size_t digits = number.whole.size() + number.fraction.size();
  for (std::size_t at = 0; at < digits && !sink.full(); at += 2)
    sink.put(10 * digit_at(number.whole, number.fraction, at) + digit_at(number.whole, number.fraction, at + 1) + 1);
  sink.put(0);
  if (number.negative) sink.complement_from(begin);
}

/// The power of 1000 or 1024 that a letter stands for.
inline int unit_order(char unit) {
  constexpr std::string_view kUnits = "KMGTPEZY";
  return unit == 'k' ? 1 : static_cast<int>(kUnits.find(unit) + 1);  // npos + 1 is 0
}

/// -h: the sign and the unit decide, then the number.
template <class Sink>
void encode_human(Sink& sink, std::string_view text, bool fold) {
  const Decimal number = parse_decimal(text);
  const bool is_zero = number.whole.empty() && without_trailing_zeros(number.fraction).empty();
  const int order = is_zero ? 0 : unit_order(fold ? upper(number.next) : number.next);
  sink.put(static_cast<unsigned>(0x80 + (number.negative ? -order : order)));
  encode_decimal(sink, number);
}

/// -g: a text that is no number, then NaNs by their bytes in memory, then numbers, -inf first and inf last.
struct GeneralNumber {
  enum class Class : std::uint8_t { kNone, kNan, kNumber } kind = Class::kNone;
  std::string_view bytes() const { return {text.data(), size}; }
  std::array<char, 16> text{};  ///< bytes that order numbers of the class
  std::size_t size = 0;
};

/// Allocates: a copy of a long text.
GeneralNumber parse_general(std::string_view text);

template <class Sink>
void encode_general(Sink& sink, std::string_view text) {
  const GeneralNumber number = parse_general(text);
  sink.put(static_cast<unsigned>(number.kind));
  sink.append(number.bytes());
}

}  // namespace hetsort::io
