// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic with sizes that come from outside: a sum or product that does not fit is an error, not a small number.
#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

namespace hetsort::io {

/// The records of a job take at most this many bytes (4 EiB). Rounding such a size up, or adding a few of them, cannot
/// wrap around.
inline constexpr std::uint64_t kMaxTotalBytes = std::uint64_t{1} << 62;

/// A size is larger than what this program can work with.
class SizeError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// a + b. `what` stands in the message, for example "the sizes of all INPUTs". Throws: SizeError above kMaxTotalBytes.
inline std::uint64_t checked_add(std::uint64_t a, std::uint64_t b, const std::string& what) {
  std::uint64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum) || sum > kMaxTotalBytes)
    throw SizeError(what + " are together more than 4 EiB (" + std::to_string(kMaxTotalBytes) + " bytes)");
  return sum;
}

/// a * b, for example records and their size. Throws: SizeError above kMaxTotalBytes.
inline std::uint64_t checked_multiply(std::uint64_t a, std::uint64_t b, const std::string& what) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product) || product > kMaxTotalBytes)
    throw SizeError(what + " are more than 4 EiB (" + std::to_string(kMaxTotalBytes) + " bytes)");
  return product;
}

/// The whole part of `value`, within what the type can hold: 0 for negative values and for NaN.
inline std::uint64_t saturated(double value) {
  constexpr double kEnd = 0x1p64;
  if (!(value > 0)) return 0;
  return value < kEnd ? static_cast<std::uint64_t>(value) : std::numeric_limits<std::uint64_t>::max();
}

}  // namespace hetsort::io
