// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "gen/checksum/record_checksum_x86.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <array>

#include "gen/format/record_format.h"
#include "gen/format/uint128.h"

namespace hetsort::gen::detail {

namespace {

constexpr Uint128 kPolynomial = 0x104C11DB7;  // x^32 + ... + 1, bit d = degree d
constexpr std::size_t kWords = 16;            // 12.5 in use, padded to whole registers

constexpr std::uint64_t reflected(std::uint64_t value, int bits) {
  std::uint64_t result = 0;
  for (int i = 0; i < bits; ++i) result |= (value >> i & 1) << (bits - 1 - i);
  return result;
}

constexpr std::uint64_t power_modulo(unsigned exponent) {
  Uint128 value = 1;
  for (; exponent > 0; --exponent) {
    value <<= 1;
    if ((value >> 32 & 1) != 0) value ^= kPolynomial;
  }
  return low_half(value);
}

/// floor(x^95 / P), the factor of the Barrett step.
constexpr std::uint64_t barrett_factor() {
  Uint128 rest = Uint128{1} << 95;
  std::uint64_t quotient = 0;
  for (int degree = 95; degree >= 32; --degree) {
    if ((rest >> degree & 1) == 0) continue;
    rest ^= kPolynomial << (degree - 32);
    quotient |= std::uint64_t{1} << (degree - 32);
  }
  return quotient;
}

struct alignas(64) Powers {
  std::array<std::uint64_t, kWords> words{};
};

constexpr Powers make_powers() {
  Powers powers;
  constexpr unsigned kTopExponent = 768;
  for (unsigned i = 0; 64 * i <= kTopExponent; ++i)
    powers.words[i] = reflected(power_modulo(kTopExponent - 64 * i), 33);
  return powers;
}

constexpr std::uint32_t crc_of_zeros(std::size_t bytes) {
  const auto polynomial = static_cast<std::uint32_t>(reflected(low_half(kPolynomial) & 0xffffffff, 32));
  std::uint32_t crc = 0xffffffff;
  for (std::size_t i = 0; i < bytes * 8; ++i) crc = (crc & 1) != 0 ? crc >> 1 ^ polynomial : crc >> 1;
  return ~crc;
}

constexpr Powers kPowers = make_powers();
constexpr std::uint64_t kBarrett = reflected(barrett_factor(), 64);
constexpr std::uint64_t kReflectedPolynomial = reflected(low_half(kPolynomial), 33);
constexpr std::uint32_t kZerosCrc = crc_of_zeros(kRecordBytes);

}  // namespace

bool pclmul_usable() { return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1"); }

bool avx512_usable() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("vpclmulqdq");
}

__attribute__((target("pclmul,sse4.1"))) std::uint64_t checksum_pclmul(const std::byte* records, std::size_t count) {
  const __m128i* powers = reinterpret_cast<const __m128i*>(kPowers.words.data());
  const __m128i reduction =
      _mm_set_epi64x(static_cast<long long>(kReflectedPolynomial), static_cast<long long>(kBarrett));
  std::uint64_t sum = 0;
  for (; count > 0; --count, records += kRecordBytes) {
    const __m128i tail = _mm_loadu_si32(records + 96);
    __m128i product = _mm_clmulepi64_si128(tail, powers[6], 0x00);
    for (int i = 0; i < 6; ++i) {
      const __m128i words = _mm_loadu_si128(reinterpret_cast<const __m128i*>(records + 16 * i));
      product = _mm_xor_si128(product, _mm_clmulepi64_si128(words, powers[i], 0x00));
      product = _mm_xor_si128(product, _mm_clmulepi64_si128(words, powers[i], 0x11));
    }
    const __m128i quotient = _mm_clmulepi64_si128(product, reduction, 0x00);
    product = _mm_xor_si128(product, _mm_clmulepi64_si128(quotient, reduction, 0x10));
    sum += static_cast<std::uint32_t>(_mm_extract_epi32(product, 2)) ^ kZerosCrc;
  }
  return sum;
}

namespace {

#define HETSORT_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,vpclmulqdq"), always_inline)) inline

struct Powers512 {
  __m512i front, back;
};

/// The products of one record, to be xor-ed over the register's four lanes.
HETSORT_AVX512 __m512i products(const std::byte* record, const Powers512& powers) {
  constexpr __mmask16 kTailWords = 0x1ff;  // 36 bytes
  const __m512i front = _mm512_loadu_si512(record);
  const __m512i back = _mm512_maskz_loadu_epi32(kTailWords, record + 64);
  const __m512i even = _mm512_xor_si512(_mm512_clmulepi64_epi128(front, powers.front, 0x00),
                                        _mm512_clmulepi64_epi128(back, powers.back, 0x00));
  return _mm512_ternarylogic_epi64(even, _mm512_clmulepi64_epi128(front, powers.front, 0x11),
                                   _mm512_clmulepi64_epi128(back, powers.back, 0x11), 0x96);
}

// The masked form with a full mask: in GCC 12 the plain one warns of an uninitialised operand of its own.
#define HETSORT_SHUFFLE(a, b, lanes) _mm512_maskz_shuffle_i64x2(0xff, a, b, lanes)

/// The lanes of `a` and of `b` xor-ed in pairs: a0^a2, a1^a3, b0^b2, b1^b3.
HETSORT_AVX512 __m512i fold_pairs(__m512i a, __m512i b) {
  return _mm512_xor_si512(HETSORT_SHUFFLE(a, b, 0x44), HETSORT_SHUFFLE(a, b, 0xee));
}

/// One lane for each record: its CRC in the lowest 32 bits of the lane's upper half, zeros elsewhere.
HETSORT_AVX512 __m512i reduced(__m512i product) {
  const __m512i quotient = _mm512_clmulepi64_epi128(product, _mm512_set1_epi64(static_cast<long long>(kBarrett)), 0x00);
  const __m512i multiple =
      _mm512_clmulepi64_epi128(quotient, _mm512_set1_epi64(static_cast<long long>(kReflectedPolynomial)), 0x00);
  const __m512i crc = _mm512_ternarylogic_epi64(product, multiple, _mm512_set1_epi64(kZerosCrc), 0x96);
  constexpr __mmask16 kCrcWords = 0x4444;
  return _mm512_maskz_mov_epi32(kCrcWords, crc);
}

}  // namespace

__attribute__((target("avx512f,avx512bw,avx512vl,vpclmulqdq"))) std::uint64_t checksum_avx512(const std::byte* records,
                                                                                              std::size_t count) {
  const Powers512 powers{_mm512_load_si512(kPowers.words.data()), _mm512_load_si512(kPowers.words.data() + 8)};
  __m512i sums = _mm512_setzero_si512();
  for (; count >= 4; count -= 4, records += 4 * kRecordBytes) {
    const __m512i ab = fold_pairs(products(records, powers), products(records + kRecordBytes, powers));
    const __m512i cd =
        fold_pairs(products(records + 2 * kRecordBytes, powers), products(records + 3 * kRecordBytes, powers));
    // Even lanes of both, xor-ed with odd lanes of both, leave one lane for each record.
    const __m512i product = _mm512_xor_si512(HETSORT_SHUFFLE(ab, cd, 0x88), HETSORT_SHUFFLE(ab, cd, 0xdd));
    sums = _mm512_add_epi64(sums, reduced(product));
  }
  alignas(64) std::array<std::uint64_t, 8> lanes;
  _mm512_store_si512(lanes.data(), sums);
  return lanes[1] + lanes[3] + lanes[5] + lanes[7] + checksum_pclmul(records, count);
}

}  // namespace hetsort::gen::detail

#endif
