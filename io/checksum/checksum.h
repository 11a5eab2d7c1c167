// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Checksums of bytes and fingerprints of records. They are the same on every machine; the fastest code for the
// processor is selected at run time. Thread safety: any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace hetsort::io {

/// CRC-32 as zlib's crc32(), which the public generator and validator add up. `before`: the CRC of the bytes before.
std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before = 0);

/// CRC-32C (Castagnoli), for blocks on disk and wire.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

/// Fingerprint of a multiset of records: the sum modulo 2^64 of each record's XXH3-64. The same in any order; those of
/// two parts add up to that of the whole. Requires: record_bytes > 0 and records.size() a multiple of it.
std::uint64_t fingerprint(std::span<const std::byte> records, std::size_t record_bytes);

}  // namespace hetsort::io
