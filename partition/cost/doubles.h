// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Doubles and whole numbers, converted with checks. Internal to the library.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace hetsort::partition {

/// The cost of a number of records that no node can take.
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// `value` without its fraction, within 0 and `limit`; 0 for NaN. A cast alone is undefined beyond 2^63.
constexpr std::int64_t whole_part(double value, std::int64_t limit) {
  if (!(value >= 1)) return 0;
  return value < static_cast<double>(limit) ? static_cast<std::int64_t>(value) : limit;
}

/// The double in the middle of all doubles between two that are not negative. A bisection with it ends after 64 steps
/// whatever the magnitudes of its bounds. Equals `low` when no double lies between them.
constexpr double middle_of(double low, double high) {
  const auto from = std::bit_cast<std::uint64_t>(low);
  const auto to = std::bit_cast<std::uint64_t>(high);
  return std::bit_cast<double>(from + (to - from) / 2);
}

}  // namespace hetsort::partition
