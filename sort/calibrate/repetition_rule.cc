// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/calibrate/repetition_rule.h"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

namespace hetsort::sort {

double relative_half_width(std::span<const double> samples) {
  constexpr double kUpperTail = 0.975;
  if (samples.size() < 2) return 1;
  const auto count = static_cast<double>(samples.size());
  const double mean = std::accumulate(samples.begin(), samples.end(), 0.0) / count;
  double squares = 0;
  for (const double one : samples) squares += (one - mean) * (one - mean);
  if (squares == 0) return 0;
  const double quantile = boost::math::quantile(boost::math::students_t(count - 1), kUpperTail);
  return quantile * std::sqrt(squares / (count - 1) / count) / mean;
}

bool enough_repetitions(std::span<const double> seconds) {
  constexpr std::size_t kMinRepetitions = 5;
  constexpr double kMaxHalfWidth = 0.025;
  return seconds.size() > kMinRepetitions && relative_half_width(seconds.subspan(1)) <= kMaxHalfWidth;
}

}  // namespace hetsort::sort
