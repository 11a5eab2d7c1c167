// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/cost/cost_function.h"

#include <algorithm>

#include "partition/cost/doubles.h"

namespace hetsort::partition {

std::int64_t whole_inverse(const CostFunction& cost, double budget, std::int64_t limit) {
  const double real = cost.inverse(budget);
  if (!(real < static_cast<double>(limit))) return limit;
  const std::int64_t start = whole_part(real, limit);
  constexpr std::int64_t kExactIntegers = std::int64_t{1} << 53;  // beyond, neighbours are the same double
  if (start >= kExactIntegers || !cost.non_decreasing()) return start;
  // One unit in the last place of the cost can be many records where the curve is nearly flat: steps from `start`
  // double until they bracket the answer, which is then bisected.
  const auto affordable = [&](std::int64_t records) { return cost.value(static_cast<double>(records)) <= budget; };
  constexpr std::int64_t kMaxStep = std::int64_t{1} << 61;
  std::int64_t low = start;   // affordable, or 0
  std::int64_t high = start;  // not affordable
  if (start == 0 || affordable(start)) {
    for (std::int64_t step = 1; low == high; step = std::min(2 * step, kMaxStep)) {
      if (low == limit) return limit;
      high = low + std::min(step, limit - low);
      if (affordable(high)) low = high;
    }
  } else {
    for (std::int64_t step = 1; low == high; step = std::min(2 * step, kMaxStep)) {
      low = high - std::min(step, high);
      if (low > 0 && !affordable(low)) high = low;
    }
  }
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (affordable(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace hetsort::partition
