// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/cost/formula_costs.h"

#include <boost/math/special_functions/lambert_w.hpp>
#include <cmath>
#include <limits>

#include "partition/cost/doubles.h"
#include "partition/cost/parameter.h"

namespace hetsort::partition {
namespace {

class AffineCost final : public CostFunction {
 public:
  explicit AffineCost(AffineForm form) : form_(form) {}
  double value(double records) const override { return records > 0 ? form_.start + form_.per_record * records : 0.0; }
  double inverse(double cost) const override {
    if (cost < form_.start) return 0;
    return form_.per_record > 0 ? (cost - form_.start) / form_.per_record : kInfinity;
  }
  std::optional<double> derivative(double) const override { return form_.per_record; }
  std::optional<AffineForm> affine() const override { return form_; }

 private:
  AffineForm form_;
};

/// The positive solution w of w e^w = e^log_x, for arguments whose exponential would overflow.
double lambert_w_of_exp(double log_x) {
  double w = log_x - std::log(log_x);
  for (int pass = 0; pass < 4; ++pass) w -= (w + std::log(w) - log_x) / (1 + 1 / w);
  return w;
}

class NlognCost final : public CostFunction {
 public:
  explicit NlognCost(NlognForm form) : form_(form), ratio_(form.per_record / form.coefficient) {}
  double value(double records) const override {
    if (records <= 0) return 0;
    const double logarithm = records > 1 ? std::log(records) : 0;
    return form_.start + records * (form_.per_record + form_.coefficient * logarithm);
  }
  double inverse(double cost) const override {
    if (cost < form_.start) return 0;
    const double work = cost - form_.start;
    if (work <= form_.per_record) return form_.per_record > 0 ? work / form_.per_record : 1.0;
    if (std::isinf(work)) return kInfinity;
    // work = c n (ln n + r), with m = n e^r: m ln m = (work/c) e^r, hence ln m = W((work/c) e^r) and n = (work/c) / W.
    const double scaled = work / form_.coefficient;
    if (scaled < std::numeric_limits<double>::min()) return 1.0;
    constexpr double kAllLinear = 1e17;  // above it the logarithm, below 1000, is lost in rounding
    if (ratio_ > kAllLinear) return work / form_.per_record;
    if (std::isinf(scaled)) return kInfinity;
    constexpr double kMaxExponent = 700;  // e^700 is still a double
    const double exponent = std::log(scaled) + ratio_;
    if (exponent > kMaxExponent) return scaled / lambert_w_of_exp(exponent);
    return scaled / boost::math::lambert_w0(ratio_ == 0 ? scaled : scaled * std::exp(ratio_));
  }
  std::optional<double> derivative(double records) const override {
    return form_.per_record + (records >= 1 ? form_.coefficient * (1 + std::log(records)) : 0.0);
  }
  bool is_plain_nlogn() const override { return form_.coefficient == 1 && form_.start == 0 && form_.per_record == 0; }

 private:
  NlognForm form_;
  double ratio_;
};

class PowerCost final : public CostFunction {
 public:
  PowerCost(double coefficient, double exponent) : coefficient_(coefficient), exponent_(exponent) {}
  double value(double records) const override {
    return records > 0 ? coefficient_ * std::pow(records, exponent_) : 0.0;
  }
  double inverse(double cost) const override { return std::pow(cost / coefficient_, 1 / exponent_); }
  std::optional<double> derivative(double records) const override {
    if (records <= 0) return std::nullopt;
    return coefficient_ * exponent_ * std::pow(records, exponent_ - 1);
  }

 private:
  double coefficient_;
  double exponent_;
};

class ScaledCost final : public CostFunction {
 public:
  ScaledCost(CostPtr shape, double speed) : shape_(std::move(shape)), speed_(speed) {}
  double value(double records) const override { return shape_->value(records) / speed_; }
  double inverse(double cost) const override { return shape_->inverse(cost * speed_); }
  std::optional<double> derivative(double records) const override {
    const auto slope = shape_->derivative(records);
    return slope ? std::optional(*slope / speed_) : std::nullopt;
  }
  bool non_decreasing() const override { return shape_->non_decreasing(); }
  std::optional<AffineForm> affine() const override {
    const auto line = shape_->affine();
    return line ? std::optional(AffineForm{line->start / speed_, line->per_record / speed_}) : std::nullopt;
  }
  bool is_plain_nlogn() const override { return speed_ == 1 && shape_->is_plain_nlogn(); }

 private:
  CostPtr shape_;
  double speed_;
};

class CustomCost final : public CostFunction {
 public:
  CustomCost(std::function<double(double)> evaluate, bool non_decreasing)
      : evaluate_(std::move(evaluate)), non_decreasing_(non_decreasing) {}
  double value(double records) const override { return records >= 1 ? evaluate_(std::floor(records)) : 0.0; }
  double inverse(double cost) const override {
    if (!non_decreasing_) return kInfinity;  // nothing is known: a bound that holds for every function
    double low = 0;
    double high = 1;
    while (evaluate_(high) <= cost) {
      low = high;
      high *= 2;
      if (high > kMaxRecords) return kInfinity;
    }
    while (high - low > 1) {
      const double middle = std::floor(low + (high - low) / 2);
      if (middle <= low || middle >= high) break;  // neighbours among doubles beyond 2^53
      (evaluate_(middle) <= cost ? low : high) = middle;
    }
    return low;
  }
  bool non_decreasing() const override { return non_decreasing_; }

 private:
  static constexpr double kMaxRecords = 1e19;  // above 2^63
  std::function<double(double)> evaluate_;
  bool non_decreasing_;
};

}  // namespace

CostPtr linear_cost(double per_record) {
  return std::make_shared<AffineCost>(AffineForm{0, require_parameter(per_record, "linear cost: per_record")});
}

CostPtr affine_cost(AffineForm form) {
  require_parameter(form.start, "affine cost: start");
  require_parameter(form.per_record, "affine cost: per_record");
  return std::make_shared<AffineCost>(form);
}

CostPtr nlogn_cost(NlognForm form) {
  require_parameter(form.coefficient, "nlogn cost: coefficient");
  require_parameter(form.start, "nlogn cost: start");
  require_parameter(form.per_record, "nlogn cost: per_record");
  if (form.coefficient == 0) return std::make_shared<AffineCost>(AffineForm{form.start, form.per_record});
  return std::make_shared<NlognCost>(form);
}

CostPtr power_cost(double coefficient, double exponent) {
  require_parameter(coefficient, "power cost: coefficient");
  require_positive(exponent, "power cost: exponent");
  if (coefficient == 0) return std::make_shared<AffineCost>(AffineForm{});
  return std::make_shared<PowerCost>(coefficient, exponent);
}

CostPtr scaled_cost(CostPtr shape, double speed) {
  require_positive(speed, "speed");
  return std::make_shared<ScaledCost>(std::move(shape), speed);
}

CostPtr custom_cost(std::function<double(double)> evaluate, bool non_decreasing) {
  return std::make_shared<CustomCost>(std::move(evaluate), non_decreasing);
}

}  // namespace hetsort::partition
