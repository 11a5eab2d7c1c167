// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Binary records. Group g of record r is the top ten bytes of X(r+1+g), xor-ed with a constant of g. The next record
// holds the same numbers shifted by one group. So the records of a range are windows of 100 bytes, at a distance of ten
// bytes, into one stream of ten-byte numbers, each xor-ed with the same 100-byte mask. A block of that stream is made
// in the first-level cache (one multiplication a record); then every record takes four 32-byte moves.
#pragma once

#include <cstddef>
#include <span>

#include "gen/format/record_format.h"

namespace hetsort::gen {

/// Writes consecutive records from number `first` on until `into` is full.
/// Requires: into.size() is a multiple of kRecordBytes. O(records + log first). Thread safety: any.
void fill_binary(Uint128 first, std::span<std::byte> into);

namespace detail {

/// Makes record i from the 100 bytes at numbers + 10 i, for `count` records.
using WindowKernel = void (*)(const std::byte* numbers, std::byte* records, std::size_t count);

/// Every kernel this machine can run, the portable one first. For tests and benchmarks.
std::span<const WindowKernel> window_kernels();
/// Does what fill_binary() does, with a chosen kernel.
void fill_binary_with(WindowKernel kernel, Uint128 first, std::span<std::byte> into);

}  // namespace detail
}  // namespace hetsort::gen
