// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Cost functions that are formulas.
#pragma once

#include <functional>

#include "cost_function.h"

namespace hetsort::partition {

/// f(n) = per_record n. Throws: PlanError unless per_record is finite and >= 0.
CostPtr linear_cost(double per_record);

/// f(n) = start + per_record n for n > 0. Throws: PlanError unless both are finite and >= 0.
CostPtr affine_cost(AffineForm form);

struct NlognForm {
  double coefficient = 1;  ///< factor of n ln n
  double start = 0;        ///< paid once there is a record
  double per_record = 0;   ///< factor of n
};

/// f(n) = start + per_record n + coefficient n ln n, the logarithm taken as 0 below one record. The inverse goes
/// through Lambert's W (Cerin, Dubacq, Roch 2006, section 3.2). Throws: PlanError unless all three are finite and >= 0.
CostPtr nlogn_cost(NlognForm form = {});

/// f(n) = coefficient n^exponent. Throws: PlanError unless both are finite, coefficient >= 0 and exponent > 0.
CostPtr power_cost(double coefficient, double exponent);

/// f(n) = shape(n) / speed: one shape for all nodes, a relative speed for each.
/// Requires: shape. Throws: PlanError unless speed is finite and above zero.
CostPtr scaled_cost(CostPtr shape, double speed);

/// A function of the caller's, evaluated at whole numbers only; value(0) is taken as 0. inverse() searches, in O(log n)
/// evaluations. Requires: `evaluate` is pure and never negative or NaN.
CostPtr custom_cost(std::function<double(double)> evaluate, bool non_decreasing);

}  // namespace hetsort::partition
