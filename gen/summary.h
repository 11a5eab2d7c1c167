// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The validator's result for consecutive records, and how two neighbouring ones are joined. Its file form is that of
// the public validator; docs/formats/records.md describes it.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gen/format/record_format.h"
#include "gen/format/uint128.h"

namespace hetsort::gen {

struct Summary {
  Uint128 first_unordered = 0;  ///< place of the first unordered record; if any
  Uint128 unordered = 0;        ///< records whose key is below their predecessor's, or equal to it where that is strict
  Uint128 records = 0;
  Uint128 duplicates = 0;  ///< records whose key equals their predecessor's
  Uint128 checksum = 0;    ///< sum of CRC-32
  /// Normalized keys of the first and the last record; empty without records.
  std::vector<std::byte> first_key, last_key;
  /// The first and the last record as a whole, if they are benchmark records; otherwise zeros.
  std::array<std::byte, kRecordBytes> first_record{}, last_record{};

  bool strict = false;  ///< equal keys are unordered too; not in the file form

  bool in_order() const { return unordered == 0; }
  /// Joins the summary of the records right behind these, and judges the border between them.
  void append(const Summary& next);
  /// The lines of the public validator's report; "0 records" when there are none.
  std::string report() const;
};

inline constexpr std::size_t kSummaryBytes = 280;

/// Writes the file form. Requires: a summary of benchmark records.
std::array<std::byte, kSummaryBytes> encode_summary(const Summary& summary);
/// Reads the file form. Returns nothing if the numbers contradict each other: then the bytes are no summary.
std::optional<Summary> decode_summary(std::span<const std::byte, kSummaryBytes> bytes);

}  // namespace hetsort::gen
