// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/cost/measured_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/lambert_w.hpp>
#include <cmath>
#include <numbers>

#include "partition/cost/doubles.h"
#include "partition/cost/error.h"
#include "partition/cost/parameter.h"

namespace hetsort::partition {
namespace {

/// n ln n with the logarithm kept at 1 or more, so that it rises from 0 and a one-record point can be extrapolated.
double growth(double records) { return records * std::max(1.0, std::log(records)); }

double growth_inverse(double work) {
  if (work <= std::numbers::e || std::isinf(work)) return work;
  return work / boost::math::lambert_w0(work);
}

double growth_slope(double records) { return records > std::numbers::e ? 1 + std::log(records) : 1.0; }

class TableCost final : public CostFunction {
 public:
  /// Requires: points sorted by records, all above zero and different; a point (0, 0) is put in front.
  explicit TableCost(std::vector<CostPoint> points) : points_(std::move(points)) {
    points_.insert(points_.begin(), CostPoint{});
    beyond_ = points_.back().cost / growth(points_.back().records);
    min_after_.resize(points_.size());
    double min_cost = kInfinity;
    for (std::size_t i = points_.size(); i-- > 0;) {
      min_cost = std::min(min_cost, points_[i].cost);
      min_after_[i] = min_cost;
    }
    rising_ = std::is_sorted(points_.begin(), points_.end(),
                             [](const CostPoint& a, const CostPoint& b) { return a.cost < b.cost; });
  }

  double value(double records) const override {
    if (records <= 0) return 0;
    if (records >= points_.back().records) return beyond_ * growth(records);
    const std::size_t right = line_end(records);
    const CostPoint& a = points_[right - 1];
    const CostPoint& b = points_[right];
    return std::lerp(a.cost, b.cost, (records - a.records) / (b.records - a.records));
  }

  double inverse(double cost) const override {
    if (cost >= points_.back().cost) {
      if (beyond_ == 0) return kInfinity;
      return std::max(points_.back().records, growth_inverse(cost / beyond_));
    }
    // Find the last of the straight lines that comes down to `cost`. min_after_ never falls from left to right.
    const auto above = std::upper_bound(min_after_.begin(), min_after_.end(), cost);
    const auto right = static_cast<std::size_t>(above - min_after_.begin());
    const CostPoint& a = points_[right - 1];
    const CostPoint& b = points_[right];
    return a.records + (b.records - a.records) * ((cost - a.cost) / (b.cost - a.cost));
  }

  std::optional<double> derivative(double records) const override {
    if (records > points_.back().records) return beyond_ * growth_slope(records);
    const std::size_t right = records <= 0 ? 1 : line_end(std::nextafter(records, 0.0));
    const CostPoint& a = points_[right - 1];
    const CostPoint& b = points_[right];
    return (b.cost - a.cost) / (b.records - a.records);
  }

  bool non_decreasing() const override { return rising_; }

 private:
  std::size_t line_end(double records) const {
    const auto after = std::upper_bound(points_.begin() + 1, points_.end() - 1, records,
                                        [](double n, const CostPoint& point) { return n < point.records; });
    return static_cast<std::size_t>(after - points_.begin());
  }

  std::vector<CostPoint> points_;
  std::vector<double> min_after_;  // the smallest cost at this point or a later one
  double beyond_ = 0;              // cost = beyond_ growth(n) above the last point
  bool rising_ = true;
};

class StepCost final : public CostFunction {
 public:
  explicit StepCost(StepForm form) : form_(form) {}

  double value(double records) const override {
    if (records <= 0) return 0;
    const double steps = records > form_.memory_records ? std::ceil(records / form_.memory_records) : 0;
    return form_.per_record * records + form_.io_step * steps;
  }

  double inverse(double cost) const override {
    const double full_step = form_.per_record * form_.memory_records + form_.io_step;
    if (full_step == 0) return kInfinity;
    const double whole_steps = std::floor(cost / full_step);
    if (std::isinf(whole_steps)) return kInfinity;
    // value(j memory_records) <= cost, so n lies in step j, at its end, or in step j + 1.
    return std::max({last_in_step(whole_steps + 1, cost), last_in_step(whole_steps, cost), last_in_step(1, cost)});
  }

  std::optional<double> derivative(double) const override { return form_.per_record; }

 private:
  /// The largest n of step j, (j - 1) M < n <= j M, that costs no more than `cost`; 0 when none does.
  double last_in_step(double j, double cost) const {
    if (j < 1) return 0;
    const double left = cost - (j > 1 ? form_.io_step * j : 0.0);
    const double end = j * form_.memory_records;
    if (left < 0) return 0;
    const double records = form_.per_record > 0 ? std::min(end, left / form_.per_record) : end;
    return records > (j - 1) * form_.memory_records ? records : 0.0;
  }

  StepForm form_;
};

}  // namespace

CostPtr table_cost(std::vector<CostPoint> points) {
  if (points.empty()) throw PlanError("table cost: it needs at least one point");
  for (const CostPoint& point : points) {
    require_parameter(point.cost, "table cost: the cost of a point");
    require_positive(point.records, "table cost: the number of records of a point");
  }
  std::sort(points.begin(), points.end(), [](const CostPoint& a, const CostPoint& b) { return a.records < b.records; });
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (points[i].records == points[i - 1].records)
      throw PlanError(fmt::format("table cost: two points for {} records", points[i].records));
  }
  return std::make_shared<TableCost>(std::move(points));
}

CostPtr step_cost(StepForm form) {
  require_parameter(form.per_record, "step cost: per_record");
  require_parameter(form.io_step, "step cost: io_step");
  if (!std::isfinite(form.memory_records) || form.memory_records < 1)
    throw PlanError(fmt::format("step cost: memory_records must be at least 1, not {}", form.memory_records));
  return std::make_shared<StepCost>(form);
}

}  // namespace hetsort::partition
