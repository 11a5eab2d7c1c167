// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The linear program of a scatter, by whatever solver the build found. Internal to the library.
#pragma once

#include <vector>

#include "partition/problem.h"

namespace hetsort::partition {

/// False when the library was built without a solver.
bool has_scatter_program();

/// Real shares, summing to N, that minimise T with T >= sum_{j<=i} receive_j(n_j) + compute_i(n_i) for every i and
/// 0 <= n_i <= cap. All start-ups count, whether or not the node gets records: with start-ups T can exceed the optimum.
/// Requires: affine costs. Throws: PlanError when the solver gives up or there is none.
std::vector<double> solve_scatter_program(const Problem& problem);

}  // namespace hetsort::partition
