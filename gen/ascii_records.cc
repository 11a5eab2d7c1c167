// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "gen/ascii_records.h"

#include <cassert>
#include <cstdint>
#include <cstring>

#include "gen/random_sequence.h"

namespace hetsort::gen {

namespace {

constexpr std::size_t kKeyDigitsOfHighHalf = 8;
constexpr std::size_t kNumberAt = 12;
constexpr std::size_t kNumberDigits = 32;
constexpr std::size_t kFillerAt = 46;
constexpr std::size_t kFillerDigits = 13;
constexpr std::size_t kFillerRepeats = 4;

char hex_digit(std::uint64_t value) { return "0123456789ABCDEF"[value & 15]; }

void write_record(Uint128 number, Uint128 x, std::byte* record) {
  const auto key = ascii_key(x);
  std::array<char, kRecordBytes> text;
  std::memcpy(text.data(), key.data(), kKeyBytes);
  std::memset(text.data() + kKeyBytes, ' ', 2);
  for (std::size_t i = 0; i < kNumberDigits / 2; ++i) {
    const auto shift = 60 - 4 * static_cast<int>(i);
    text[kNumberAt + i] = hex_digit(high_half(number) >> shift);
    text[kNumberAt + kNumberDigits / 2 + i] = hex_digit(low_half(number) >> shift);
  }
  std::memset(text.data() + kNumberAt + kNumberDigits, ' ', 2);
  for (std::size_t i = 0; i < kFillerDigits; ++i) {
    const char digit = hex_digit(low_half(x) >> (48 - 4 * static_cast<int>(i)));
    std::memset(text.data() + kFillerAt + i * kFillerRepeats, digit, kFillerRepeats);
  }
  text[kRecordBytes - 2] = '\r';
  text[kRecordBytes - 1] = '\n';
  std::memcpy(record, text.data(), kRecordBytes);
}

}  // namespace

std::array<std::byte, kKeyBytes> ascii_key(Uint128 x) {
  std::array<std::byte, kKeyBytes> key;
  std::uint64_t rest = high_half(x);
  for (std::size_t i = 0; i < kKeyBytes; ++i) {
    if (i == kKeyDigitsOfHighHalf) rest = low_half(x);
    key[i] = static_cast<std::byte>(' ' + rest % kPrintables);
    rest /= kPrintables;
  }
  return key;
}

void fill_ascii(Uint128 first, std::span<std::byte> into) {
  assert(into.size() % kRecordBytes == 0);
  Uint128 x = random_at(first + 1);
  for (std::size_t at = 0; at < into.size(); at += kRecordBytes, ++first, x = next_random(x))
    write_record(first, x, into.data() + at);
}

}  // namespace hetsort::gen
