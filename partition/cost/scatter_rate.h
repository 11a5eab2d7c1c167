// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The rate of a scatter whose costs are linear. Internal to the library.
//
// Genaud, Giersch, Vivien 2003, for T_comm = lambda n and T_comp = mu n and rational shares: nodes that all take part
// and finish together do so after N D, with D = [sum_i 1/(lambda_i + mu_i) prod_{j<i} mu_j/(lambda_j + mu_j)]^-1.
#pragma once

#include <span>
#include <vector>

#include "partition/cost/cost_function.h"

namespace hetsort::partition {

struct LinearNode {
  double receive_per_record = 0;  ///< lambda
  double compute_per_record = 0;  ///< mu
};

bool is_linear(const CostPtr& cost);

/// Says for every node whether it takes part, by the paper's condition from the last node backwards: node i is kept
/// when lambda_i <= D of the nodes kept after it. `rate` (if given) becomes D of all that are kept. O(p).
std::vector<bool> participants(std::span<const LinearNode> nodes, double* rate = nullptr);

/// D of the participants: the rational optimum for N records is N D.
double scatter_rate(std::span<const LinearNode> nodes);

}  // namespace hetsort::partition
