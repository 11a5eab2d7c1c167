// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The random numbers behind the records: a linear congruential generator modulo 2^128, X(0) = 0, X(i+1) = A X(i) + C.
// Record number r draws X(r+1) .. X(r+10).
#pragma once

#include "gen/format/uint128.h"

namespace hetsort::gen {

inline constexpr Uint128 kMultiplier = make_uint128(0x2360ed051fc65da4, 0x4385df649fccf645);
inline constexpr Uint128 kIncrement = make_uint128(0x4a696d4772617952, 0x4950202020202001);

/// The number after `x` in the sequence.
constexpr Uint128 next_random(Uint128 x) { return kMultiplier * x + kIncrement; }

/// X(n), by repeated squaring of the affine map: O(log n).
constexpr Uint128 random_at(Uint128 n) {
  Uint128 multiplier = kMultiplier;
  Uint128 increment = kIncrement;
  Uint128 x = 0;
  for (; n != 0; n >>= 1) {
    if ((n & 1) != 0) x = multiplier * x + increment;
    increment = multiplier * increment + increment;
    multiplier *= multiplier;
  }
  return x;
}

}  // namespace hetsort::gen
