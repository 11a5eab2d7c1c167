// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "gen/checksum/record_checksum.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "gen/checksum/record_checksum_x86.h"
#include "io/checksum/checksum.h"

namespace hetsort::gen {

namespace {

std::uint64_t checksum_portable(const std::byte* records, std::size_t count) {
  std::uint64_t sum = 0;
  for (; count > 0; --count, records += kRecordBytes) sum += io::crc32({records, kRecordBytes});
  return sum;
}

struct ChecksumKernels {
  std::array<detail::ChecksumKernel, 3> list{checksum_portable};
  std::size_t count = 1;
};

ChecksumKernels usable_checksum_kernels() {
  ChecksumKernels kernels;
#if defined(__x86_64__)
  if (detail::pclmul_usable()) kernels.list[kernels.count++] = detail::checksum_pclmul;
  if (detail::pclmul_usable() && detail::avx512_usable()) kernels.list[kernels.count++] = detail::checksum_avx512;
#endif
  return kernels;
}

}  // namespace

namespace detail {

std::span<const ChecksumKernel> checksum_kernels() {
  static const ChecksumKernels kChecksumKernels = usable_checksum_kernels();
  return std::span(kChecksumKernels.list).first(kChecksumKernels.count);
}

}  // namespace detail

Uint128 record_checksum(std::span<const std::byte> records) {
  assert(records.size() % kRecordBytes == 0);
  constexpr std::size_t kMaxRecords = std::size_t{1} << 31;  // their sum stays below 2^63
  const detail::ChecksumKernel kernel = detail::checksum_kernels().back();
  Uint128 sum = 0;
  for (std::size_t left = records.size() / kRecordBytes; left > 0;) {
    const std::size_t count = std::min(left, kMaxRecords);
    sum += kernel(records.data(), count);
    records = records.subspan(count * kRecordBytes);
    left -= count;
  }
  return sum;
}

Uint128 record_checksum(std::span<const std::byte> records, std::size_t record_bytes) {
  assert(record_bytes > 0 && records.size() % record_bytes == 0);
  if (record_bytes == kRecordBytes) return record_checksum(records);
  Uint128 sum = 0;
  for (std::size_t at = 0; at < records.size(); at += record_bytes) sum += io::crc32(records.subspan(at, record_bytes));
  return sum;
}

}  // namespace hetsort::gen
