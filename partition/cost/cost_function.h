// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The interface of cost functions.
//
// A cost function is defined for real numbers of records, so that a common finish time can be searched for; shares
// are whole. No record costs nothing, whatever the start-up. Values are immutable and shared freely.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

namespace hetsort::partition {

/// The cost of n records is start (paid once there is a record) + per_record n.
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

/// A shared cost function. Thread safety: it is immutable, so that any number of threads may use it.
using CostPtr = std::shared_ptr<const CostFunction>;

/// The largest whole n <= limit with cost(n) <= budget, 0 when there is none: inverse() without its rounding errors.
/// Beyond 2^53, where neighbours are the same double, it is inverse() cut to a whole number.
/// Complexity: two evaluations where inverse() is exact, O(log n) at most.
std::int64_t whole_inverse(const CostFunction& cost, double budget, std::int64_t limit);

}  // namespace hetsort::partition
