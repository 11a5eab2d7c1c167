// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Sizes, rates and times as people write them. K, M, G, T, P and KiB, MiB, ... are powers of 1024; KB, MB, ... of 1000.
#pragma once

#include <cstdint>
#include <string_view>

namespace hetsort::partition {

/// Bytes of "8GiB", "64K", "4GB", "1.5G" or "4096" (no suffix: times `plain_unit_bytes`; pass 1024 for GNU sort's -S).
/// Letters in either case; blanks before the unit are allowed. Fractions of a byte are cut off.
/// Throws: PlanError naming `what` when the text is not a size, is negative, or exceeds 2^63 - 1 bytes.
std::int64_t parse_bytes(std::string_view text, std::string_view what, std::int64_t plain_unit_bytes = 1);

/// Bytes a second of "500MB/s" or "1GiB/s"; the "/s" may be left out. Always above zero.
/// Throws: PlanError as parse_bytes, and for a rate of zero.
double parse_bytes_per_second(std::string_view text, std::string_view what);

/// Bytes a second of a network link: "800mbit", "1gbit" (bits, powers of 1000) or a rate as above. Above zero.
/// Throws: PlanError as parse_bytes_per_second.
double parse_link_bytes_per_second(std::string_view text, std::string_view what);

/// Seconds of "200us", "5ms" or "1.5s"; zero is allowed.
/// Throws: PlanError naming `what` when the text is not a time or is negative.
double parse_seconds(std::string_view text, std::string_view what);

}  // namespace hetsort::partition
