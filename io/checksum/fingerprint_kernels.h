// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The implementations of fingerprint(), all with the same result. Internal to io/; see checksum.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hetsort::io {

inline constexpr std::size_t kBenchmarkRecordBytes = 100;

/// One record after the other, with xxHash's own code.
std::uint64_t plain_fingerprint(const std::byte* records, std::size_t count, std::size_t record_bytes);
std::uint64_t plain_fingerprint_of_benchmark_records(const std::byte* records, std::size_t count);

/// Whether the processor has AVX-512 and wide_fingerprint() supports this size of records.
bool wide_fingerprint_serves(std::size_t record_bytes);
/// Computes eight records at a time. Requires: wide_fingerprint_serves(record_bytes).
std::uint64_t wide_fingerprint(const std::byte* records, std::size_t count, std::size_t record_bytes);

}  // namespace hetsort::io
