// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Divides N among units (hosts, or the ranks of a host) so that the latest of them finishes as early as possible, where
// a unit finishes by T with any number in an interval that grows with T. Exact. Internal to the library.
//
// T is feasible if N lies between the sums of the bounds. The search halves a bracket of T, or follows the secant where
// only the upper bounds decide, until no double lies between its ends. A unit whose interval is the same at both ends
// is not looked at again, so that the last steps, which decide about single records, are cheap.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "partition/cost/doubles.h"
#include "partition/cost/error.h"

namespace hetsort::partition {

/// An interval of numbers of records; empty if low > high.
struct Interval {
  std::int64_t low = 0;
  std::int64_t high = 0;

  bool operator==(const Interval&) const = default;
};

/// The earliest T, and the intervals of all units at this T and just before it.
struct EarliestLevel {
  double seconds = 0;
  std::vector<Interval> at;
  std::vector<Interval> before;  ///< empty if T is 0
  bool too_few_before = false;   ///< just before T, only the sum of the upper bounds falls short
};

/// The search. Requires: interval(unit, T) grows with T, and at T = infinity the intervals hold `records` together.
template <typename IntervalAt>
class LevelSearch {
 public:
  LevelSearch(std::size_t units, std::int64_t records, const IntervalAt& interval)
      : records_(records), interval_(interval) {
    for (std::size_t unit = 0; unit < units; ++unit) active_.push_back(unit);
  }

  /// The earliest level, within a factor of 1 + `tolerance` of the time.
  EarliestLevel find(double guess, double tolerance) {
    for (std::vector<Interval>* intervals : {&at_, &before_, &middle_}) intervals->resize(active_.size());
    sums_before_ = probe(0, before_);
    if (sums_before_.enough(records_)) return {0, std::move(before_), {}, false};
    bracket(guess);
    while (high_ > low_ * (1 + tolerance) && step()) {
    }
    return {high_, std::move(at_), std::move(before_), sums_before_.only_too_few(records_)};
  }

 private:
  __extension__ using Wide = __int128;  // sums of 63-bit numbers

  struct Sums {
    Wide low = 0;
    Wide high = 0;
    bool empty = false;  ///< some unit cannot finish, whatever it gets

    bool enough(std::int64_t records) const { return !empty && low <= records && records <= high; }
    bool only_too_few(std::int64_t records) const { return !empty && low <= records && high < records; }
  };

  Sums probe(double seconds, std::vector<Interval>& intervals) const {
    Sums sums = fixed_;
    for (const std::size_t unit : active_) {
      const Interval interval = interval_(unit, seconds);
      intervals[unit] = interval;
      sums.low += interval.low;
      sums.high += interval.high;
      sums.empty = sums.empty || interval.low > interval.high;
    }
    return sums;
  }

  /// Brackets T around the guess. Each step away from it is the square of the one before.
  void bracket(double guess) {
    constexpr double kFirst = 1.25;
    constexpr double kMax = 1e100;  // its square would exceed the doubles
    high_ = std::clamp(guess, std::numeric_limits<double>::min(), std::numeric_limits<double>::max());
    sums_at_ = probe(high_, at_);
    double factor = kFirst;
    for (; !sums_at_.enough(records_); factor = std::min(factor * factor, kMax)) {
      if (high_ >= std::numeric_limits<double>::max())
        throw PlanError("the costs of the planned shares do not fit a double");
      low_ = high_;
      std::swap(before_, at_);
      sums_before_ = sums_at_;
      high_ = high_ < std::numeric_limits<double>::max() / factor ? high_ * factor : std::numeric_limits<double>::max();
      sums_at_ = probe(high_, at_);
    }
    for (double lower = high_ / factor; low_ == 0 && lower > 0; lower /= factor) {
      const Sums sums = probe(lower, middle_);
      if (sums.enough(records_)) {
        high_ = lower;
        sums_at_ = sums;
        std::swap(at_, middle_);
        factor = std::min(factor * factor, kMax);
        continue;
      }
      low_ = lower;
      sums_before_ = sums;
      std::swap(before_, middle_);
    }
  }

  /// The T at which the secant through both ends reaches N. Each step that leaves an end where it is halves the weight
  /// of that end, so that both ends move soon.
  double secant() const {
    const double below = std::ldexp(static_cast<double>(records_ - sums_before_.high), -std::max(0, high_moves_ - 1));
    const double above = std::ldexp(static_cast<double>(sums_at_.high - records_), -std::max(0, low_moves_ - 1));
    return low_ + (high_ - low_) * (below / (below + above));
  }

  /// Halves the bracket, or better. False if no double lies between its ends, or nothing depends on where T lies.
  bool step() {
    forget_fixed();
    const double half = middle_of(low_, high_);
    if (active_.empty() || half <= low_) return false;
    const bool far = sums_at_.high - sums_before_.high > static_cast<Wide>(4 * active_.size());
    constexpr int kSecants = 3;  // secant steps in a row; then the bracket is halved in any case
    double next = half;
    if (far && sums_before_.only_too_few(records_) && steps_++ % (kSecants + 1) < kSecants) next = secant();
    if (!(next > low_ && next < high_)) next = half;
    const Sums sums = probe(next, middle_);
    const bool enough = sums.enough(records_);
    high_moves_ = enough ? high_moves_ + 1 : 0;
    low_moves_ = enough ? 0 : low_moves_ + 1;
    (enough ? high_ : low_) = next;
    (enough ? sums_at_ : sums_before_) = sums;
    std::vector<Interval>& end = enough ? at_ : before_;
    for (const std::size_t unit : active_) end[unit] = middle_[unit];
    return true;
  }

  /// Removes the units whose interval is the same at both ends from the search.
  void forget_fixed() {
    std::erase_if(active_, [this](std::size_t unit) {
      if (!(at_[unit] == before_[unit])) return false;
      fixed_.low += at_[unit].low;
      fixed_.high += at_[unit].high;
      return true;
    });
  }

  std::int64_t records_;
  const IntervalAt& interval_;
  std::vector<std::size_t> active_;
  Sums fixed_;
  double low_ = 0;   // a T that is not feasible
  double high_ = 0;  // a T that is feasible
  Sums sums_before_, sums_at_;
  std::vector<Interval> before_, at_, middle_;
  int steps_ = 0;
  int low_moves_ = 0;  // number of the last steps that moved the lower end
  int high_moves_ = 0;
};

template <typename IntervalAt>
EarliestLevel find_level(std::size_t units, std::int64_t records, double guess, const IntervalAt& interval,
                         double tolerance = 0) {
  return LevelSearch<IntervalAt>(units, records, interval).find(guess, tolerance);
}

/// Shares with which the last unit finishes at the earliest T, which is `seconds`. They lie within the intervals at T
/// and are balanced: the latest of the units that are not at their lower bound finishes as early as possible. What is
/// left over goes to the units in their order.
struct LevelShares {
  double seconds = 0;
  std::vector<std::int64_t> records;
};

template <typename IntervalAt>
LevelShares share_by_level(std::size_t units, std::int64_t records, double guess, const IntervalAt& interval,
                           double tolerance = 0) {
  EarliestLevel level = find_level(units, records, guess, interval, tolerance);
  LevelShares shares{level.seconds, {}};
  const std::vector<Interval> limits = level.at;
  // The upper bounds at an earlier time, but within the limits at T.
  const auto upper = [&](std::size_t unit, double seconds) {
    return Interval{0, std::clamp(interval(unit, seconds).high, limits[unit].low, limits[unit].high)};
  };
  if (!level.too_few_before) level = find_level(units, records, level.seconds, upper, tolerance);
  std::int64_t left = records;
  for (std::size_t unit = 0; unit < units; ++unit) {
    const std::int64_t before = level.before.empty() ? 0 : level.before[unit].high;
    shares.records.push_back(std::clamp(before, limits[unit].low, limits[unit].high));
    left -= shares.records.back();
  }
  for (std::size_t unit = 0; unit < units && left > 0; ++unit) {
    const std::int64_t more = std::min(left, level.at[unit].high - shares.records[unit]);
    shares.records[unit] += more;
    left -= more;
  }
  return shares;
}

}  // namespace hetsort::partition
