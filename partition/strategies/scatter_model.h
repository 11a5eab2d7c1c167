// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What the scatter strategies share: their demands on costs, the rounding. Internal to the library.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "partition/cost/scatter_rate.h"
#include "partition/problem.h"
#include "partition/strategy.h"

namespace hetsort::partition {

/// A reason when some cost is not linear (or, with `affine_will_do`, not a straight line); else empty.
std::string needs_lines(const Problem& problem, bool affine_will_do);

/// The rounding of Genaud, Giersch and Vivien: each share goes to the integer above or below it, chosen to keep the sum
/// near; the last takes the rest. Every share moves by less than one record (but for rounding errors beyond 2^53). O(p)
/// expected.
/// Requires: shares >= 0 with a sum of about `records`; limits in the nodes' max_records that the real shares keep.
std::vector<std::int64_t> round_nearest(const std::vector<double>& shares, const Problem& problem);

/// sum_j T_comm_j(1) + max_i T_comp_i(1): how far the rounded shares can be from the optimum.
double rounding_guarantee(const Problem& problem);

}  // namespace hetsort::partition
