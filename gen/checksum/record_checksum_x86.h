// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// CRC-32 of 100-byte records by carry-less multiplication.
//
// A record is thirteen 64-bit words, the last of them half empty. Its CRC before the final constant is the sum over the
// words w(j) x^(768 - 64 j) modulo P. The length is fixed, and so are the thirteen powers. Each word is multiplied by
// its own power modulo P and all products are xor-ed, so that no product waits for another. The result has degree 95 at
// most and is reduced by one Barrett step (two products).
// In the registers bits run backwards, as CRC-32 defines it: bit i of a word is degree 63 - i, bit j of a power is
// degree 32 - j, so bit k of a product is degree 95 - k. The quotient lies in the lower half, the remainder in the
// upper. CRC-32 is affine, so that the initial and the final inversion become one constant: the CRC of 100 zero bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hetsort::gen::detail {

#if defined(__x86_64__)
/// A ChecksumKernel. Needs PCLMULQDQ and SSE4.1.
std::uint64_t checksum_pclmul(const std::byte* records, std::size_t count);
bool pclmul_usable();
/// A ChecksumKernel that multiplies four words at a time and reduces four records at once. Needs AVX-512 F/BW/VL and
/// VPCLMULQDQ.
std::uint64_t checksum_avx512(const std::byte* records, std::size_t count);
bool avx512_usable();
#endif

}  // namespace hetsort::gen::detail
