// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// 128-bit unsigned numbers: record numbers, checksums, the random sequence.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hetsort::gen {

// Only a typedef can be marked as an extension.
__extension__ typedef unsigned __int128 Uint128;  // NOLINT(modernize-use-using)

constexpr Uint128 make_uint128(std::uint64_t high, std::uint64_t low) { return Uint128{high} << 64 | low; }
constexpr std::uint64_t high_half(Uint128 value) { return static_cast<std::uint64_t>(value >> 64); }
constexpr std::uint64_t low_half(Uint128 value) { return static_cast<std::uint64_t>(value); }

/// Lower-case hexadecimal without leading zeros; "0" for zero.
std::string to_hex(Uint128 value);
std::string to_decimal(Uint128 value);

/// Decimal digits only, at least one, below 2^128; anything else gives nothing.
std::optional<Uint128> parse_uint128(std::string_view text);

}  // namespace hetsort::gen
