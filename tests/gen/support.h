// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Helpers shared by the tests of gen/.
#pragma once

#include <rapidcheck/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "gen/generator.h"
#include "tests/gen/reference.h"

namespace hetsort::gen::test {

inline Limbs limbs_of(Uint128 value) { return limbs(high_half(value), low_half(value)); }

inline std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }
inline std::string text_of(std::span<const std::byte> bytes) {
  std::string text(bytes.size(), '\0');
  std::transform(bytes.begin(), bytes.end(), text.begin(), [](std::byte byte) { return static_cast<char>(byte); });
  return text;
}

/// `range` of `whole` as one text, made by one call of fill.
inline std::string filled(Form form, KeyDistribution keys, RecordRange whole, RecordRange range) {
  std::vector<std::byte> records(range.count_records * kRecordBytes);
  Generator(form, keys, whole).fill(range.first, records);
  return text_of(records);
}
inline std::string filled(Form form, KeyDistribution keys, RecordRange whole) {
  return filled(form, keys, whole, whole);
}

inline std::vector<std::string> keys_of(const std::string& records) {
  std::vector<std::string> keys;
  for (std::size_t at = 0; at < records.size(); at += kRecordBytes) keys.push_back(records.substr(at, kKeyBytes));
  return keys;
}

/// Record numbers of all magnitudes, the largest ones and those around powers of two included.
inline rc::Gen<Uint128> any_number() {
  return rc::gen::map(rc::gen::tuple(rc::gen::inRange(0, 129), rc::gen::arbitrary<std::uint64_t>(),
                                     rc::gen::arbitrary<std::uint64_t>(), rc::gen::inRange(-20, 20)),
                      [](const std::tuple<int, std::uint64_t, std::uint64_t, int>& drawn) {
                        const auto& [bits, high, low, near] = drawn;
                        const Uint128 power = bits == 128 ? 0 : Uint128{1} << bits;
                        if (high % 2 == 0) return power + static_cast<Uint128>(near);
                        return bits == 128 ? make_uint128(high, low) : make_uint128(high, low) % power;
                      });
}

}  // namespace hetsort::gen::test
