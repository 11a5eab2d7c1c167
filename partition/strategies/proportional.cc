// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// proportional: shares in proportion to the speeds, right for linear costs. O(p).
#include "partition/strategies/model.h"

namespace hetsort::partition {
namespace {

Shares proportional_shares(const Problem& problem, double) {
  return rounded(problem, shares_in_proportion(problem, 1));
}

}  // namespace

extern const Strategy proportional_strategy{.name = "proportional",
                                            .summary = "in proportion to the speeds; exact for linear costs",
                                            .unsuitable = needs_speeds,
                                            .share = proportional_shares};

}  // namespace hetsort::partition
