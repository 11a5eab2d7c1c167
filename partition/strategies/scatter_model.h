// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What the scatter strategies share: linear costs, the closed form, the rounding. Internal to the library.
//
// Genaud, Giersch, Vivien 2003, for T_comm = lambda n and T_comp = mu n and rational shares: nodes that all take part
// and finish together do so after N D, with D = [sum_i 1/(lambda_i + mu_i) prod_{j<i} mu_j/(lambda_j + mu_j)]^-1.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "partition/problem.h"
#include "partition/strategy.h"

namespace hetsort::partition {

struct LinearNode {
  double receive_per_record = 0;  ///< lambda
  double compute_per_record = 0;  ///< mu
};

bool is_linear(const CostPtr& cost);

/// A reason when some cost is not linear (or, with `affine_will_do`, not a straight line); else empty.
std::string needs_lines(const Problem& problem, bool affine_will_do);

/// Says for every node whether it takes part, by the paper's condition from the last node backwards: node i is kept
/// when lambda_i <= D of the nodes kept after it. `rate` (if given) becomes D of all that are kept. O(p).
std::vector<bool> participants(std::span<const LinearNode> nodes, double* rate = nullptr);

/// D of the participants: the rational optimum for N records is N D.
double scatter_rate(std::span<const LinearNode> nodes);

/// The rounding of Genaud, Giersch and Vivien: each share goes to the integer above or below it, chosen to keep the sum
/// near; the last takes the rest. Every share moves by less than one record (but for rounding errors beyond 2^53). O(p)
/// expected.
/// Requires: shares >= 0 with a sum of about `records`; limits in the nodes' max_records that the real shares keep.
std::vector<std::int64_t> round_nearest(const std::vector<double>& shares, const Problem& problem);

/// sum_j T_comm_j(1) + max_i T_comp_i(1): how far the rounded shares can be from the optimum.
double rounding_guarantee(const Problem& problem);

}  // namespace hetsort::partition
