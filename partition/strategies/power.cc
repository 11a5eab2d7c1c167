// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// power:E: exact for f = n^E (Cerin, Dubacq, Roch 2006, Theorem 1): n_i = N k_i^(1/E) / sum_j k_j^(1/E). O(p).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "partition/error.h"
#include "partition/strategies/model.h"

namespace hetsort::partition {
namespace {

Shares power_shares(const Problem& problem, double exponent) {
  if (!(exponent > 0)) throw PlanError(fmt::format("strategy 'power': E must be above zero, not {}", exponent));
  return rounded(problem, shares_in_proportion(problem, 1 / exponent));
}

/// The exponent whose power function grows like n ln n at the mean share: 1 + 1 / ln n.
double like_nlogn(const Problem& problem) {
  const double mean = static_cast<double>(problem.records) / static_cast<double>(problem.nodes.size());
  constexpr double kDigits = 1e4;
  return std::round(kDigits * (1 + 1 / std::log(std::max(mean, 3.0)))) / kDigits;
}

}  // namespace

extern const Strategy power_strategy{.name = "power",
                                     .parameter = "E",
                                     .summary = "exact for costs n^E",
                                     .unsuitable = needs_speeds,
                                     .share = power_shares,
                                     .default_parameter = like_nlogn};

}  // namespace hetsort::partition
