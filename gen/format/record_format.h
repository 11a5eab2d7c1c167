// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The benchmark record: 100 bytes of which the first ten are the key. docs/formats/records.md describes every byte.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gen/format/uint128.h"

namespace hetsort::gen {

inline constexpr std::size_t kRecordBytes = 100;
inline constexpr std::size_t kKeyBytes = 10;
inline constexpr unsigned kPrintables = 95;  ///< the letters of ASCII keys, ' ' to '~'

enum class Form : std::uint8_t { kBinary, kAscii };

/// `count_records` records from record number `first` on. The 128-bit number wraps around as the public generator's.
struct RecordRange {
  Uint128 first = 0;
  std::uint64_t count_records = 0;
};

}  // namespace hetsort::gen
