// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The unit of direct I/O.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hetsort::sort {

/// Alignment of memory, offsets and lengths for direct I/O.
inline constexpr std::size_t kPageBytes = 4096;

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace hetsort::sort
