// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Cost functions with kinks: tables of measured points, and the out-of-core steps of Nakazawa 2005, chapter 4.
#pragma once

#include <vector>

#include "cost_function.h"

namespace hetsort::partition {

struct CostPoint {
  double records = 0;
  double cost = 0;
};

/// A measured curve: straight lines between the points (which keeps a rising curve rising), a straight line to zero
/// below the first point, and above the last the last point's n ln n ratio. Points may come in any order; curves that
/// fall somewhere are accepted and say so in non_decreasing().
/// Throws: PlanError when there is no point, a number is not finite or is negative, records is not above zero, or two
/// points have the same number of records. Complexity: O(log q) a call with q points.
CostPtr table_cost(std::vector<CostPoint> points);

struct StepForm {
  double per_record = 0;
  double memory_records = 0;  ///< records that fit in memory
  double io_step = 0;         ///< cost of each out-of-core pass
};

/// The out-of-core steps: f(n) = per_record n, plus io_step ceil(n / memory_records) once n > memory_records.
/// Throws: PlanError unless all are finite, none negative and memory_records >= 1.
CostPtr step_cost(StepForm form);

}  // namespace hetsort::partition
