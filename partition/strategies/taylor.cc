// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// taylor: the first-order correction of proportional shares for f = n ln n (Cerin, Dubacq, Roch 2006, section 2, eq. 5,
// whose brackets are brackets and not floors):
//   n_i = N k_i/K + (N / ln N) (k_i / K^2) sum_j k_j ln(k_j / k_i).
// With S = sum_j k_j ln k_j the inner sum is S - K ln k_i, so all shares take O(p). Small N can give shares below zero:
// those are cut to zero and the others scaled down.
#include <algorithm>
#include <cmath>

#include "partition/strategies/model.h"

namespace hetsort::partition {
namespace {

Shares taylor_shares(const Problem& problem, double) {
  const auto records = static_cast<double>(problem.records);
  if (problem.records < 3) return rounded(problem, shares_in_proportion(problem, 1));  // ln N is no large number
  std::vector<double> shares = speeds_of(problem);
  const double fastest = *std::max_element(shares.begin(), shares.end());
  double total = 0;
  double weighted = 0;
  for (double& k : shares) {
    k /= fastest;
    total += k;
    weighted += k > 0 ? k * std::log(k) : 0.0;
  }
  double sum = 0;
  for (double& k : shares) {
    const double logarithm = k > 0 ? std::log(k) : 0.0;
    const double correction = (weighted / total - logarithm) / std::log(records);
    k = std::max(0.0, records * (k / total) * (1 + correction));
    sum += k;
  }
  for (double& one : shares) one *= records / sum;
  return rounded(problem, std::move(shares));
}

}  // namespace

extern const Strategy taylor_strategy{.name = "taylor",
                                      .summary = "first-order correction of proportional for n ln n",
                                      .unsuitable = needs_speeds,
                                      .share = taylor_shares};

}  // namespace hetsort::partition
