// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "gen/key_distribution.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string_view>

#include "gen/ascii_records.h"
#include "gen/binary_records.h"
#include "gen/random_sequence.h"
#include "gen/zipf_table.h"

namespace hetsort::gen {

namespace {

constexpr std::size_t kSkewedBytes = 6;

// Odd, so that multiplication by it permutes the places and scatters the frequent keys over the key space.
constexpr std::uint32_t kZipfScatter = 0x9E3779B1;

std::uint64_t parse_few(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size() || value == 0)
    throw std::invalid_argument("few:K wants a whole number K from 1 on, not '" + std::string(text) + "'");
  return value;
}

double parse_zipf(std::string_view text) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size() || !(value > 0 && value <= kMaxZipfExponent))
    throw std::invalid_argument("zipf:S wants an exponent S above 0 and at most 20, not '" + std::string(text) + "'");
  return value;
}

/// Significant bits of a record number as the public generator counts them: where one of the top four bits of a 64-bit
/// half is set, it counts the highest bit as set.
unsigned significant_bits(Uint128 number) {
  constexpr std::uint64_t kTopFour = 0xF000000000000000;
  const auto bits_of_half = [](std::uint64_t half) {
    return (half & kTopFour) != 0 ? 64U : static_cast<unsigned>(std::bit_width(half));
  };
  const std::uint64_t high = high_half(number);
  return high != 0 ? 64 + bits_of_half(high) : bits_of_half(low_half(number));
}

/// Replaces the `bits` most significant bits of the key with those of `from`.
void replace_bits(std::byte* key, const Key& from, unsigned bits) {
  std::memcpy(key, from.data(), bits / 8);
  if (bits % 8 == 0) return;
  const auto mask = static_cast<std::byte>(0xff00U >> bits % 8);
  key[bits / 8] = (from[bits / 8] & mask) | (key[bits / 8] & ~mask);
}

}  // namespace

KeyDistribution parse_key_distribution(const std::string& text) {
  if (text == "uniform") return {};
  if (text == "sorted") return {.kind = KeyKind::kSorted};
  if (text == "reverse") return {.kind = KeyKind::kReverse};
  if (text == "equal") return {.kind = KeyKind::kEqual};
  if (text.starts_with("few:")) return {.kind = KeyKind::kFew, .few_keys = parse_few(std::string_view(text).substr(4))};
  if (text.starts_with("zipf:"))
    return {.kind = KeyKind::kZipf, .zipf_exponent = parse_zipf(std::string_view(text).substr(5))};
  throw std::invalid_argument("unknown keys '" + text + "'; known are uniform, sorted, reverse, equal, few:K, zipf:S");
}

Key spread_key(Form form, std::uint64_t j, std::uint64_t n) {
  assert(j < n);
  auto fraction = low_half((Uint128{j} << 64) / n);
  Key key{};
  if (form == Form::kBinary) {
    for (std::size_t i = 0; i < sizeof(fraction); ++i) key[i] = static_cast<std::byte>(fraction >> (56 - 8 * i));
    return key;
  }
  for (std::byte& digit : key) {
    const Uint128 product = Uint128{fraction} * kPrintables;
    digit = static_cast<std::byte>(' ' + high_half(product));
    fraction = low_half(product);
  }
  return key;
}

KeyRewriter::KeyRewriter(Form form, KeyDistribution distribution, RecordRange whole)
    : form_(form), distribution_(distribution), whole_(whole) {
  switch (distribution.kind) {
    case KeyKind::kUniform:
    case KeyKind::kEqual:
      break;
    case KeyKind::kSkewed:
      build_skewed_keys();
      break;
    case KeyKind::kSorted:
    case KeyKind::kReverse:
      places_ = std::max<std::uint64_t>(1, whole.count_records);
      break;
    case KeyKind::kFew:
      places_ = distribution.few_keys;
      break;
    case KeyKind::kZipf:
      places_ = kZipfKeys;
      zipf_ = std::make_shared<const ZipfTable>(distribution.zipf_exponent, kZipfKeys);
      break;
  }
}

void KeyRewriter::build_skewed_keys() {
  constexpr std::size_t kBitCounts = 129;
  std::vector<std::byte> records(kBitCounts * kRecordBytes);
  form_ == Form::kBinary ? fill_binary(0, records) : fill_ascii(0, records);
  skewed_keys_.resize(kBitCounts);
  for (std::size_t i = 0; i < kBitCounts; ++i)
    std::memcpy(skewed_keys_[i].data(), records.data() + i * kRecordBytes, kKeyBytes);
}

void KeyRewriter::skew(Uint128 number, Uint128 x, std::byte* key) const {
  const auto drawn = static_cast<unsigned>(low_half(x) >> 32);
  const Key& from = skewed_keys_[significant_bits(number)];
  if (form_ == Form::kBinary) {
    const unsigned bits = drawn & 63;
    if (bits <= kSkewedBytes * 8) replace_bits(key, from, bits);
  } else {
    const unsigned bytes = drawn & 7;
    if (bytes <= kSkewedBytes) std::memcpy(key, from.data(), bytes);
  }
}

std::uint64_t KeyRewriter::place(Uint128 number, Uint128 x) const {
  switch (distribution_.kind) {
    case KeyKind::kSorted:
      return low_half(number - whole_.first);
    case KeyKind::kReverse:
      return places_ - 1 - low_half(number - whole_.first);
    case KeyKind::kFew:
      return high_half(Uint128{high_half(x)} * places_);
    case KeyKind::kZipf:
      return zipf_->rank(high_half(x)) * kZipfScatter % kZipfKeys;
    default:
      return 0;
  }
}

void KeyRewriter::rewrite(Uint128 first, std::span<std::byte> records) const {
  if (distribution_.kind == KeyKind::kUniform) return;
  Uint128 x = random_at(first + 1);
  for (std::size_t at = 0; at < records.size(); at += kRecordBytes, ++first, x = next_random(x)) {
    std::byte* key = records.data() + at;
    if (distribution_.kind == KeyKind::kSkewed) {
      skew(first, x, key);
    } else {
      const Key replacement = spread_key(form_, place(first, x), places_);
      std::memcpy(key, replacement.data(), kKeyBytes);
    }
  }
}

}  // namespace hetsort::gen
