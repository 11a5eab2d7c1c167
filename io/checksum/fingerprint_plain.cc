// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "io/checksum/fingerprint_kernels.h"

#if HETSORT_XXH3_DISPATCH
// The library's own choice among SSE2, AVX2 and AVX-512; its header would redefine the inlined functions' names.
extern "C" XXH64_hash_t XXH3_64bits_dispatch(const void* input, size_t bytes);
#endif

namespace hetsort::io {

namespace {

// XXH3 hashes longer inputs in stripes of vectors, where wide ones pay; up to here it uses plain 64-bit arithmetic.
[[maybe_unused]] constexpr std::size_t kMaxScalarBytes = XXH3_MIDSIZE_MAX;

}  // namespace

std::uint64_t plain_fingerprint(const std::byte* records, std::size_t count, std::size_t record_bytes) {
  std::uint64_t sum = 0;
#if HETSORT_XXH3_DISPATCH
  if (record_bytes > kMaxScalarBytes) {
    for (std::size_t i = 0; i < count; ++i) sum += XXH3_64bits_dispatch(records + i * record_bytes, record_bytes);
    return sum;
  }
#endif
  for (std::size_t i = 0; i < count; ++i) sum += XXH3_64bits(records + i * record_bytes, record_bytes);
  return sum;
}

std::uint64_t plain_fingerprint_of_benchmark_records(const std::byte* records, std::size_t count) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i)
    sum += XXH3_64bits(records + i * kBenchmarkRecordBytes, kBenchmarkRecordBytes);
  return sum;
}

}  // namespace hetsort::io
