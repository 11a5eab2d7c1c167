// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/gen/reference.h"

#include <string_view>

namespace hetsort::gen::test {

namespace {

const Limbs kA = limbs(0x2360ed051fc65da4, 0x4385df649fccf645);
const Limbs kC = limbs(0x4a696d4772617952, 0x4950202020202001);
constexpr std::size_t kGroupBytes = 10;

constexpr std::array<std::string_view, 10> kGroupConstants{
    "00000000000000000000", "F0E8E4E2E1D8D4D2D1CC", "CAC9C6C5C3B8B4B2B1AC", "AAA9A6A5A39C9A999695",
    "938E8D8B87787472716C", "6A696665635C5A595655", "534E4D4B473C3A393635", "332E2D2B271E1D1B170F",
    "C8C4C2C1989492918CE0", "170F332E2D2B271E1D1B"};

unsigned digit_value(char digit) { return static_cast<unsigned>(digit <= '9' ? digit - '0' : digit - 'A' + 10); }

/// Byte `place` of the number written big-endian.
unsigned byte_of(const Limbs& value, std::size_t place) {
  return value[3 - place / 4] >> (24 - 8 * (place % 4)) & 0xff;
}

bool bit_of(const Limbs& value, unsigned bit) { return (value[bit / 32] >> bit % 32 & 1) != 0; }

std::string binary_record(const Limbs& number) {
  std::string record;
  for (unsigned group = 0; group < kGroupConstants.size(); ++group) {
    const Limbs random = reference_random(sum(number, limbs(0, group + 1)));
    for (std::size_t i = 0; i < kGroupBytes; ++i) {
      const unsigned mask =
          digit_value(kGroupConstants[group][2 * i]) << 4 | digit_value(kGroupConstants[group][2 * i + 1]);
      record += static_cast<char>(byte_of(random, i) ^ mask);
    }
  }
  return record;
}

std::string ascii_record(const Limbs& number) {
  const Limbs random = reference_random(sum(number, limbs(0, 1)));
  std::string record;
  std::uint64_t high = high_word(random);
  for (int i = 0; i < 8; ++i, high /= 95) record += static_cast<char>(' ' + high % 95);
  std::uint64_t low = low_word(random);
  for (int i = 0; i < 2; ++i, low /= 95) record += static_cast<char>(' ' + low % 95);
  record += "  ";
  for (std::size_t i = 0; i < 32; ++i)
    record += "0123456789ABCDEF"[byte_of(number, i / 2) >> (i % 2 == 0 ? 4 : 0) & 15];
  record += "  ";
  for (int shift = 48; shift >= 0; shift -= 4)
    record += std::string(4, "0123456789ABCDEF"[low_word(random) >> shift & 15]);
  return record + "\r\n";
}

/// The number of significant bits. Where one of the top four bits of a half is set, its highest bit counts as set.
unsigned skew_bits(const Limbs& number) {
  for (unsigned half : {1U, 0U}) {
    for (unsigned bit = 64; bit-- > 0;) {
      if (bit_of(number, half * 64 + bit)) return half * 64 + (bit >= 60 ? 64 : bit + 1);
    }
  }
  return 0;
}

/// The remainder of one byte, by eight steps of one bit.
std::array<std::uint32_t, 256> crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
    table[byte] = crc;
  }
  return table;
}

void skew(std::string& record, const Limbs& number, bool ascii) {
  const std::uint64_t low = low_word(reference_random(sum(number, limbs(0, 1))));
  const std::string from = reference_record(limbs(0, skew_bits(number)), {.ascii = ascii});
  if (ascii) {
    const std::size_t bytes = low >> 32 & 7;
    for (std::size_t i = 0; bytes <= 6 && i < bytes; ++i) record[i] = from[i];
    return;
  }
  const std::size_t bits = low >> 32 & 63;
  for (std::size_t bit = 0; bits <= 48 && bit < bits; ++bit) {
    const auto mask = static_cast<char>(0x80 >> bit % 8);
    record[bit / 8] = static_cast<char>((record[bit / 8] & ~mask) | (from[bit / 8] & mask));
  }
}

}  // namespace

Limbs limbs(std::uint64_t high, std::uint64_t low) {
  return {static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32), static_cast<std::uint32_t>(high),
          static_cast<std::uint32_t>(high >> 32)};
}

std::uint64_t high_word(const Limbs& a) { return std::uint64_t{a[3]} << 32 | a[2]; }
std::uint64_t low_word(const Limbs& a) { return std::uint64_t{a[1]} << 32 | a[0]; }

Limbs sum(const Limbs& a, const Limbs& b) {
  Limbs result{};
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    carry += std::uint64_t{a[i]} + b[i];
    result[i] = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
  return result;
}

Limbs product(const Limbs& a, const Limbs& b) {
  Limbs result{};
  for (std::size_t i = 0; i < result.size(); ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; i + j < result.size(); ++j) {
      carry += std::uint64_t{a[i]} * b[j] + result[i + j];
      result[i + j] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
  }
  return result;
}

Limbs reference_random(const Limbs& n) {
  Limbs x = limbs(0, 0);
  Limbs multiplier = kA;
  Limbs increment = kC;
  for (unsigned bit = 0; bit < 128; ++bit) {
    if (bit_of(n, bit)) x = sum(product(multiplier, x), increment);
    increment = sum(product(multiplier, increment), increment);
    multiplier = product(multiplier, multiplier);
  }
  return x;
}

std::string reference_record(const Limbs& number, ReferenceKind kind) {
  std::string record = kind.ascii ? ascii_record(number) : binary_record(number);
  if (kind.skewed) skew(record, number, kind.ascii);
  return record;
}

std::string reference_records(Limbs first, std::size_t count, ReferenceKind kind) {
  std::string records;
  for (; count > 0; --count, first = sum(first, limbs(0, 1))) records += reference_record(first, kind);
  return records;
}

std::uint32_t reference_crc(std::string_view bytes) {
  static const std::array<std::uint32_t, 256> kTable = crc_table();
  std::uint32_t crc = 0xffffffff;
  for (const char byte : bytes) crc = crc >> 8 ^ kTable[(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  return ~crc;
}

ReferenceJudgement reference_judgement(const std::string& records, std::size_t record_bytes, std::size_t key_offset,
                                       std::size_t key_bytes) {
  ReferenceJudgement judgement;
  std::optional<std::string> before;
  for (std::size_t at = 0; at < records.size(); at += record_bytes) {
    const std::string key = records.substr(at + key_offset, key_bytes);
    if (before && key < *before && ++judgement.unordered == 1) judgement.first_unordered = judgement.records;
    if (before && key == *before) ++judgement.duplicates;
    before = key;
    ++judgement.records;
    judgement.checksum += reference_crc(std::string_view(records).substr(at, record_bytes));
  }
  return judgement;
}

}  // namespace hetsort::gen::test
