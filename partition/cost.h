// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What a number of records costs on a node: seconds, or work units when only relative speeds are known.
//
// A cost function is defined for real numbers of records so that a common finishing time can be searched for; shares
// are whole. No record costs nothing, whatever the start-up. Values are immutable and shared freely.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace hetsort::partition {

/// start (paid once there is a record) + per_record n.
struct AffineForm {
  double start = 0;
  double per_record = 0;
};

class CostFunction {
 public:
  virtual ~CostFunction() = default;

  /// Cost of `records` >= 0; 0 at 0. Never negative, never NaN; +infinity when it does not fit a double.
  virtual double value(double records) const = 0;

  /// The largest real n >= 0 with value(n) <= cost (a supremum where the function jumps), 0 when even a part of a
  /// record costs more, +infinity when no number of records costs more. Requires: cost >= 0.
  virtual double inverse(double cost) const = 0;

  /// Slope at `records` (from the left at a kink), where the function has one.
  virtual std::optional<double> derivative(double /*records*/) const { return std::nullopt; }

  /// False for curves that fall somewhere: only the dynamic programs take those.
  virtual bool non_decreasing() const { return true; }

  /// The straight line this function is, if it is one: what the scatter strategies for linear costs ask for.
  virtual std::optional<AffineForm> affine() const { return std::nullopt; }

  /// True for exactly f(n) = n ln n (one work unit for each n ln n): the model of the lambert strategy.
  virtual bool is_plain_nlogn() const { return false; }
};

/// Thread safety: cost functions are immutable; any number of threads may use one.
using CostPtr = std::shared_ptr<const CostFunction>;

/// f(n) = per_record n. Throws: PlanError unless per_record is finite and >= 0.
CostPtr linear_cost(double per_record);

/// f(n) = start + per_record n for n > 0. Throws: PlanError unless both are finite and >= 0.
CostPtr affine_cost(AffineForm form);

struct NlognForm {
  double coefficient = 1;  ///< of n ln n
  double start = 0;        ///< paid once there is a record
  double per_record = 0;   ///< of n
};

/// f(n) = start + per_record n + coefficient n ln n, the logarithm taken as 0 below one record. The inverse goes
/// through Lambert's W (Cerin, Dubacq, Roch 2006, section 3.2). Throws: PlanError unless all three are finite and >= 0.
CostPtr nlogn_cost(NlognForm form = {});

/// f(n) = coefficient n^exponent. Throws: PlanError unless both are finite, coefficient >= 0 and exponent > 0.
CostPtr power_cost(double coefficient, double exponent);

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

/// The out-of-core steps of Nakazawa 2005 (chapter 4): f(n) = per_record n, plus io_step ceil(n / memory_records) once
/// n > memory_records. Throws: PlanError unless all are finite, none negative and memory_records >= 1.
CostPtr step_cost(StepForm form);

/// f(n) = shape(n) / speed: one shape for all nodes, a relative speed for each.
/// Requires: shape. Throws: PlanError unless speed is finite and above zero.
CostPtr scaled_cost(CostPtr shape, double speed);

/// Any function of the caller's, evaluated at whole numbers only; value(0) is taken as 0. inverse() searches, in
/// O(log n) evaluations. Requires: `evaluate` is pure and never negative or NaN.
CostPtr custom_cost(std::function<double(double)> evaluate, bool non_decreasing);

/// The largest whole n <= limit with cost(n) <= budget, 0 when there is none: inverse() without its rounding errors.
std::int64_t whole_inverse(const CostFunction& cost, double budget, std::int64_t limit);

/// Throws: PlanError unless `speed` is finite and above zero; `what` names it.
void require_speed(double speed, const char* what);

}  // namespace hetsort::partition
