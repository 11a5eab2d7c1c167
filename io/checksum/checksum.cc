// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/checksum/checksum.h"

#include <isa-l/crc.h>

#include <algorithm>
#include <cassert>
#include <limits>

#include "io/checksum/fingerprint_kernels.h"

namespace hetsort::io {

std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before) {
  // The function inverts the value before and after by itself, as zlib's does.
  return crc32_gzip_refl(before, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) {
  // This function takes an int for the length and leaves both inversions to the caller.
  std::uint32_t inverted = ~before;
  while (!bytes.empty()) {
    const std::size_t part = std::min<std::size_t>(bytes.size(), std::numeric_limits<int>::max());
    auto* data = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(bytes.data()));  // only read
    inverted = crc32_iscsi(data, static_cast<int>(part), inverted);
    bytes = bytes.subspan(part);
  }
  return ~inverted;
}

std::uint64_t fingerprint(std::span<const std::byte> records, std::size_t record_bytes) {
  assert(record_bytes > 0 && records.size() % record_bytes == 0);
  const std::size_t count = records.size() / record_bytes;
  if (wide_fingerprint_serves(record_bytes)) return wide_fingerprint(records.data(), count, record_bytes);
  if (record_bytes == kBenchmarkRecordBytes) return plain_fingerprint_of_benchmark_records(records.data(), count);
  return plain_fingerprint(records.data(), count, record_bytes);
}

}  // namespace hetsort::io
