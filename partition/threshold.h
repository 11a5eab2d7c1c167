// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Problem "shares" for any non-decreasing costs, exactly (generalising Cerin, Dubacq, Roch 2006, section 3).
//
// The optimum is T*, the (N - sum l)-th smallest of all f_i(x), l_i < x <= u_i: a node takes every record that it can
// finish by T*. T is bracketed on the real-valued functions (Newton where all have slopes, else Boost.Math's TOMS 748),
// then whole records are counted at the bracket's lower end and what is left is given out one by one. Where the count
// jumps past N at one T (plateaus, steps), nodes are filled to their limit at T in index order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "costed_node.h"

namespace hetsort::partition {

struct ThresholdSolution {
  std::vector<std::int64_t> shares;
  double lower_bound = 0;  ///< the real-valued T; no whole shares finish earlier
};

/// Optimal whole shares. Requires: sum low <= records <= sum high.
/// Throws: PlanError when a cost falls somewhere. Complexity: O(p) a step, about 10 steps for smooth costs and at most
/// some 170 for steps; Allocates: O(p).
ThresholdSolution solve_threshold(std::span<const CostedNode> nodes, std::int64_t records);

/// The real-valued T alone; valid for falling costs too (their inverse() is the last crossing). 0 for black boxes.
double threshold_lower_bound(std::span<const CostedNode> nodes, std::int64_t records);

}  // namespace hetsort::partition
