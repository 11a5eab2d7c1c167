// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "gen/binary_records.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>

#include "gen/random_sequence.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hetsort::gen {

namespace {

constexpr std::size_t kGroupBytes = 10;
constexpr std::size_t kGroups = kRecordBytes / kGroupBytes;

// Records of a block: its 2.6 KB of numbers stay in the first-level cache beside the records being written.
constexpr std::size_t kBlockRecords = 256;

struct alignas(64) Mask {
  std::array<std::uint8_t, kRecordBytes> bytes;
};

constexpr Mask kMask = {{
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,  //
    0xF0, 0xE8, 0xE4, 0xE2, 0xE1, 0xD8, 0xD4, 0xD2, 0xD1, 0xCC,  //
    0xCA, 0xC9, 0xC6, 0xC5, 0xC3, 0xB8, 0xB4, 0xB2, 0xB1, 0xAC,  //
    0xAA, 0xA9, 0xA6, 0xA5, 0xA3, 0x9C, 0x9A, 0x99, 0x96, 0x95,  //
    0x93, 0x8E, 0x8D, 0x8B, 0x87, 0x78, 0x74, 0x72, 0x71, 0x6C,  //
    0x6A, 0x69, 0x66, 0x65, 0x63, 0x5C, 0x5A, 0x59, 0x56, 0x55,  //
    0x53, 0x4E, 0x4D, 0x4B, 0x47, 0x3C, 0x3A, 0x39, 0x36, 0x35,  //
    0x33, 0x2E, 0x2D, 0x2B, 0x27, 0x1E, 0x1D, 0x1B, 0x17, 0x0F,  //
    0xC8, 0xC4, 0xC2, 0xC1, 0x98, 0x94, 0x92, 0x91, 0x8C, 0xE0,  //
    0x17, 0x0F, 0x33, 0x2E, 0x2D, 0x2B, 0x27, 0x1E, 0x1D, 0x1B,
}};

std::uint64_t big_endian(std::uint64_t value) {
  return std::endian::native == std::endian::little ? __builtin_bswap64(value) : value;
}

/// Writes all 16 bytes of `x`, most significant first; the next number overwrites the last six.
void store_number(std::byte* into, Uint128 x) {
  const std::array<std::uint64_t, 2> words{big_endian(high_half(x)), big_endian(low_half(x))};
  std::memcpy(into, words.data(), sizeof(words));
}

void windows_portable(const std::byte* numbers, std::byte* records, std::size_t count) {
  for (; count > 0; --count, numbers += kGroupBytes, records += kRecordBytes)
    for (std::size_t i = 0; i < kRecordBytes; ++i) records[i] = numbers[i] ^ static_cast<std::byte>(kMask.bytes[i]);
}

#if defined(__x86_64__)
// The last move of a record ends where the record ends, so that nothing is written behind it.
constexpr std::array<std::size_t, 4> kMoves{0, 32, 64, kRecordBytes - 32};

__attribute__((target("avx2"))) void windows_avx2(const std::byte* numbers, std::byte* records, std::size_t count) {
  for (; count > 0; --count, numbers += kGroupBytes, records += kRecordBytes) {
    for (const std::size_t at : kMoves) {
      const __m256i number = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(numbers + at));
      const __m256i mask = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kMask.bytes.data() + at));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(records + at), _mm256_xor_si256(number, mask));
    }
  }
}
#endif

struct Kernels {
  std::array<detail::WindowKernel, 2> list{windows_portable};
  std::size_t count = 1;
};

Kernels usable_kernels() {
  Kernels kernels;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) kernels.list[kernels.count++] = windows_avx2;
#endif
  return kernels;
}

}  // namespace

namespace detail {

std::span<const WindowKernel> window_kernels() {
  static const Kernels kKernels = usable_kernels();
  return std::span(kKernels.list).first(kKernels.count);
}

void fill_binary_with(WindowKernel kernel, Uint128 first, std::span<std::byte> into) {
  constexpr std::size_t kKeptBytes = (kGroups - 1) * kGroupBytes;
  // The numbers of a block: nine from the block before, a new one for each record, and room for the last one's tail.
  std::array<std::byte, kKeptBytes + kBlockRecords * kGroupBytes + sizeof(Uint128)> numbers;
  Uint128 x = random_at(first + 1);
  for (std::size_t i = 0; i < kGroups - 1; ++i, x = next_random(x)) store_number(numbers.data() + i * kGroupBytes, x);
  std::size_t left = into.size() / kRecordBytes;
  std::byte* records = into.data();
  while (left > 0) {
    const std::size_t count = std::min(left, kBlockRecords);
    std::byte* number = numbers.data() + kKeptBytes;
    for (std::size_t i = 0; i < count; ++i, number += kGroupBytes, x = next_random(x)) store_number(number, x);
    kernel(numbers.data(), records, count);
    std::memmove(numbers.data(), numbers.data() + count * kGroupBytes, kKeptBytes);
    records += count * kRecordBytes;
    left -= count;
  }
}

}  // namespace detail

void fill_binary(Uint128 first, std::span<std::byte> into) {
  assert(into.size() % kRecordBytes == 0);
  detail::fill_binary_with(detail::window_kernels().back(), first, into);
}

}  // namespace hetsort::gen
