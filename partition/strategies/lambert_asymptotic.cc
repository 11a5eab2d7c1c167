// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// lambert-asymptotic: x / W(x) replaced by its development (Cerin, Dubacq, Roch 2006, Theorem 2, with the factor ln x
// that is missing in print): n = (x ln x + x ln ln x) / (ln x)^2, x = T k. Kept for comparison; lambert is exact for
// the same O(p). Below x = 8, where the development means nothing, x / W(x) itself is taken.
#include <algorithm>
#include <boost/math/special_functions/lambert_w.hpp>
#include <boost/math/tools/roots.hpp>
#include <cmath>

#include "partition/strategies/model.h"

namespace hetsort::partition {
namespace {

double records_by(double x) {
  constexpr double kMinArgument = 8;
  if (x < kMinArgument) return x > 0 ? x / boost::math::lambert_w0(x) : 1.0;
  const double logarithm = std::log(x);
  return x * (logarithm + std::log(logarithm)) / (logarithm * logarithm);
}

Shares lambert_asymptotic_shares(const Problem& problem, double) {
  std::vector<double> speeds = speeds_of(problem);
  const double fastest = *std::max_element(speeds.begin(), speeds.end());
  for (double& speed : speeds) speed /= fastest;
  const auto records = static_cast<double>(problem.records);
  const auto excess = [&](double threshold) {
    double sum = 0;
    for (const double speed : speeds) sum += records_by(threshold * speed);
    return sum - records;
  };
  double threshold = 0;
  if (excess(0) < 0) {
    double high = records * std::max(1.0, std::log(records));
    while (excess(high) <= 0) high *= 2;
    std::uintmax_t evaluations = 100;
    constexpr int kBits = 50;
    const auto bracket = boost::math::tools::toms748_solve(
        excess, 0.0, high, boost::math::tools::eps_tolerance<double>(kBits), evaluations);
    threshold = bracket.first;
  }
  double sum = 0;
  for (double& speed : speeds) sum += speed = records_by(threshold * speed);
  for (double& one : speeds) one *= std::min(1.0, records / sum);
  return rounded(problem, std::move(speeds));
}

}  // namespace

extern const Strategy lambert_asymptotic_strategy{.name = "lambert-asymptotic",
                                                  .summary = "the second-order development of lambert",
                                                  .unsuitable = needs_speeds,
                                                  .share = lambert_asymptotic_shares};

}  // namespace hetsort::partition
