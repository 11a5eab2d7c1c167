// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// An independent generator and validator, slow and straight from docs/formats/records.md: with arithmetic of its own
// (32-bit limbs), one record at a time. Shares no code with gen/.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hetsort::gen::test {

/// A number modulo 2^128 as four 32-bit limbs, the least significant first.
using Limbs = std::array<std::uint32_t, 4>;

Limbs limbs(std::uint64_t high, std::uint64_t low);
Limbs sum(const Limbs& a, const Limbs& b);
Limbs product(const Limbs& a, const Limbs& b);
std::uint64_t high_word(const Limbs& a);
std::uint64_t low_word(const Limbs& a);

/// X(n) of the sequence.
Limbs reference_random(const Limbs& n);

struct ReferenceKind {
  bool ascii = false;
  bool skewed = false;
};
/// The 100 bytes of record `number`.
std::string reference_record(const Limbs& number, ReferenceKind kind);
/// `count` records from `first` on.
std::string reference_records(Limbs first, std::size_t count, ReferenceKind kind);

/// zlib's CRC-32, byte by byte.
std::uint32_t reference_crc(std::string_view bytes);

struct ReferenceJudgement {
  std::uint64_t records = 0, unordered = 0, duplicates = 0, first_unordered = 0, checksum = 0;
  bool operator==(const ReferenceJudgement&) const = default;
};
/// Judges whole records with the key at `key_offset`.
ReferenceJudgement reference_judgement(const std::string& records, std::size_t record_bytes, std::size_t key_offset,
                                       std::size_t key_bytes);

}  // namespace hetsort::gen::test
