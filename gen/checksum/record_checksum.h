// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The benchmark's checksum: the sum of zlib's CRC-32 of every record. It does not depend on order.
#pragma once

#include <cstddef>
#include <span>

#include "gen/format/record_format.h"
#include "gen/format/uint128.h"

namespace hetsort::gen {

/// The sum over the benchmark records in `records`. 1 to 3 ns a record where the processor multiplies polynomials.
/// Requires: records.size() is a multiple of kRecordBytes. Thread safety: any.
Uint128 record_checksum(std::span<const std::byte> records);

/// The sum over records of any size. Requires: record_bytes > 0 divides records.size(). Thread safety: any.
Uint128 record_checksum(std::span<const std::byte> records, std::size_t record_bytes);

namespace detail {

/// A function that returns the sum over `count` records of kRecordBytes; `count` is below 2^32.
using ChecksumKernel = std::uint64_t (*)(const std::byte* records, std::size_t count);

/// Every kernel this machine can run, the portable one first. For tests and benchmarks.
std::span<const ChecksumKernel> checksum_kernels();

}  // namespace detail
}  // namespace hetsort::gen
