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
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "order/lines/characters.h"
#include "order/lines/key_sinks.h"

namespace hetsort::order {

/// A number in a text: blanks, '-', digits, '.', digits. All but one digit may be missing.
struct Decimal {
  bool negative = false;
  std::string_view whole;       ///< digits before the point, without leading zeros
  std::string_view fraction;    ///< digits after the point
  const char* begin = nullptr;  ///< first character of `whole`; the point and fraction follow it
  char next = 0;                ///< character behind the number; 0 at the end of the text
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

/// Returns `text` without the blanks, the sign and the zeros at its start.
inline std::string_view skip_sign(std::string_view text, bool& negative) {
  text = without_leading(text, is_blank);
  negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  return without_leading(text, [](char c) { return c == '0'; });
}

inline Decimal parse_decimal(std::string_view text) {
  Decimal number;
  text = skip_sign(text, number.negative);
  number.begin = text.data();
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

inline constexpr unsigned kZero = 0x80;

/// The encoding of a number with few digits, computed by arithmetic on words instead of loops over digits.
struct ShortKey {
  KeyBits bits = 0;
  unsigned size = 0;  ///< bytes of the key; 0 if the number is not short, or if too few bytes of text follow it
};

/// Digits at the start of a text, at most 8: their values, the first one in the lowest byte; zeros follow.
struct DigitWord {
  std::uint64_t values;
  unsigned count;
};

inline DigitWord load_digits(const char* text) {
  const std::uint64_t values = __builtin_bswap64(load_big_endian(text)) ^ 0x3030303030303030;
  // The lowest top bit that is set belongs to the first character that is no digit.
  const std::uint64_t others = (values | (values + 0x7676767676767676)) & 0x8080808080808080;
  if (others == 0) return {values, 8};
  const auto count = static_cast<unsigned>(std::countr_zero(others)) / 8;
  return {values & ((std::uint64_t{1} << 8 * count) - 1), count};
}

/// Pairs of the 8 digits of a word as numbers 0 to 99, the first one in the lowest byte.
inline std::uint64_t digit_pairs(std::uint64_t values) {
  std::uint64_t pairs = (10 * values + (values >> 8)) & 0x00ff00ff00ff00ff;
  pairs = (pairs | pairs >> 8) & 0x0000ffff0000ffff;
  return (pairs | pairs >> 16) & 0xffffffff;
}

/// Encodes a number of at most 16 digits, of which at most 7 are behind the point. Returns size 0 for others.
inline ShortKey encode_short(std::string_view text) {
  bool negative = false;
  text = skip_sign(text, negative);
  if (text.size() < 32) return {};
  DigitWord word = load_digits(text.data());
  KeyBits digits = word.values;
  unsigned whole = word.count;
  if (whole == 8) {
    word = load_digits(text.data() + 8);
    digits |= KeyBits{word.values} << 64;
    whole += word.count;
  }
  if (whole == kBitsBytes) return {};
  if (text[whole] == '.') {
    word = load_digits(text.data() + whole + 1);
    if (word.count == 8 || whole + word.count > kBitsBytes) return {};
    digits |= KeyBits{word.values} << 8 * whole;
  }
  if (digits == 0) return {KeyBits{kZero} << 120, 1};
  const auto low = static_cast<std::uint64_t>(digits);
  const auto high = static_cast<std::uint64_t>(digits >> 64);
  const int zeros = high != 0 ? std::countl_zero(high) : 64 + std::countl_zero(low);
  const unsigned pairs = (kBitsBytes - static_cast<unsigned>(zeros) / 8 + 1) / 2;
  const std::uint64_t ones = 0x0101010101010101 >> 8 * (8 - pairs);
  const std::uint64_t packed = (digit_pairs(low) | digit_pairs(high) << 32) + ones;
  ShortKey key{KeyBits{kZero + 1 + whole} << 120 | KeyBits{__builtin_bswap64(packed)} << 56, pairs + 2};
  if (negative) key.bits ^= ~KeyBits{0} << 8 * (kBitsBytes - key.size);
  return key;
}

template <class Sink>
void encode_decimal(Sink& sink, Decimal number) {
  constexpr std::size_t kMaxShortCount = 124;
  number.fraction = without_trailing_zeros(number.fraction);
  if (number.whole.empty() && number.fraction.empty()) return sink.put(kZero);
  const std::size_t begin = sink.size();
  const std::size_t whole_digits = number.whole.size();
  sink.put(kZero + 1 + static_cast<unsigned>(std::min(whole_digits, kMaxShortCount + 1)));
  if (whole_digits > kMaxShortCount) put_uint64(sink, whole_digits);
  if (number.fraction.empty()) number.whole = without_trailing_zeros(number.whole);
  const std::size_t digits = number.whole.size() + number.fraction.size();
  const auto digit_at = [&](std::size_t at) {  // the point stands between the two parts
    return at < digits ? static_cast<unsigned>(number.begin[at < whole_digits ? at : at + 1] - '0') : 0;
  };
  for (std::size_t at = 0; at < digits && !sink.full(); at += 2) sink.put(10 * digit_at(at) + digit_at(at + 1) + 1);
  sink.put(0);
  if (number.negative) sink.complement_from(begin);
}

/// Encodes a key of -n.
template <class Sink>
void encode_number(Sink& sink, std::string_view text) {
  const ShortKey key = encode_short(text);
  if (key.size > 0) return sink.put_bits(key.bits, key.size);
  encode_decimal(sink, parse_decimal(text));
}

/// The power of 1000 or 1024 that a letter stands for.
inline int unit_order(char unit) {
  constexpr std::string_view kUnits = "KMGTPEZY";
  return unit == 'k' ? 1 : static_cast<int>(kUnits.find(unit) + 1);  // npos + 1 is 0
}

/// Encodes a key of -h: signs and units are compared first, then the numbers.
template <class Sink>
void encode_human(Sink& sink, std::string_view text, bool fold) {
  const Decimal number = parse_decimal(text);
  const bool is_zero = number.whole.empty() && without_trailing_zeros(number.fraction).empty();
  const int order = is_zero ? 0 : unit_order(fold ? upper(number.next) : number.next);
  sink.put(static_cast<unsigned>(0x80 + (number.negative ? -order : order)));
  encode_decimal(sink, number);
}

/// A key of -g. Texts that are no number come first, then NaNs in the order of their bytes in memory, then numbers from
/// -inf to inf.
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

}  // namespace hetsort::order
