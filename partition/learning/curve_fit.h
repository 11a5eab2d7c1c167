// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// From measured points to a cost function.
#pragma once

#include <span>

#include "../cost/cost_function.h"
#include "curve.h"

namespace hetsort::partition {

enum class CurveFit {
  /// Default: the relative noise is estimated, the curve is smoothed in (ln n, ln seconds) as far as that noise calls
  /// for, and made non-decreasing by weighted isotonic regression (pool adjacent violators). Above the last point its
  /// n ln n ratio holds, below the first a straight line to zero.
  kSmoothed,
  /// The paper's: straight lines between the points' means, neighbours that contradict each other replaced by their
  /// weighted mean, above the last point its linear ratio.
  kPaper2006,
};

/// Fits a cost function to points. Requires: at least one point, numbers finite, records, seconds and count above zero.
/// Complexity: O(q log q). Throws: PlanError when a number is out of range.
CostPtr fit_curve(std::span<const CurvePoint> points, CurveFit fit = CurveFit::kSmoothed);

}  // namespace hetsort::partition
