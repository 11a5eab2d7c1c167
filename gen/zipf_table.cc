// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "gen/zipf_table.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hetsort::gen {

namespace {

// 65,536 intervals make a guide of 256 KiB. Most draws of a skewed distribution fall into an interval with one rank.
constexpr int kIntervalBits = 16;
constexpr int kIntervalShift = 64 - kIntervalBits;

}  // namespace

ZipfTable::ZipfTable(double exponent, std::uint32_t ranks) : last_(ranks) {
  std::vector<double> cumulative(ranks);
  double sum = 0;
  for (std::uint32_t i = 0; i < ranks; ++i) cumulative[i] = sum += std::pow(i + 1.0, -exponent);
  for (std::uint32_t i = 0; i < ranks; ++i) {
    const double end = std::ldexp(cumulative[i] / sum, 64);
    last_[i] = end < 0x1p64 ? static_cast<std::uint64_t>(end) - 1 : std::numeric_limits<std::uint64_t>::max();
  }
  last_.back() = std::numeric_limits<std::uint64_t>::max();
  std::uint32_t rank = 0;
  for (std::uint64_t interval = 0; interval < (1U << kIntervalBits); ++interval) {
    while (last_[rank] < interval << kIntervalShift) ++rank;
    guide_.push_back(rank);
  }
  guide_.push_back(ranks - 1);
}

std::uint32_t ZipfTable::rank(std::uint64_t random) const {
  const std::uint64_t interval = random >> kIntervalShift;
  const auto from = last_.begin() + guide_[interval];
  const auto to = last_.begin() + guide_[interval + 1];
  return static_cast<std::uint32_t>(std::lower_bound(from, to, random) - last_.begin());
}

}  // namespace hetsort::gen
