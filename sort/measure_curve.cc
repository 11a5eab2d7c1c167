// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/measure_curve.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "partition/learning.h"

namespace hetsort::sort {

namespace {

// Shorter sorts are start-up costs and scheduling more than sorting; they only lead to the first size.
constexpr double kShortestSeconds = 0.15;
constexpr double kGrowth = 4;
// Small, so that all nodes get to sizes that take them about as long: curves of unlike reach compare badly.
constexpr double kLeastGrowth = 1.25;
// A size is begun when time is left for so many repetitions of it, and as much again for each smaller one.
constexpr double kRepetitions = 6;

class CurveMeasurement {
 public:
  CurveMeasurement(const TimeRecords& time, const ClockSeconds& now, const CurveLimits& limits)
      : time_(time), now_(now), limits_(limits), clock_(now()) {}

  /// Finds the sizes; measures each twice, the first time being cold.
  void climb() {
    std::uint64_t records = std::max<std::uint64_t>(1, std::min(limits_.first_records, limits_.most_records));
    while (records > 0) {
      if (leads_on_) sizes_.pop_back();
      Size& size = sizes_.emplace_back(Size{records, {}, 0});
      repeat(size);
      leads_on_ = size.seconds[0] < kShortestSeconds && static_cast<double>(records) * kGrowth <= most();
      if (!leads_on_ && fits(size)) repeat(size);
      records = larger(size);
    }
  }

  /// In turns, so that what disturbs the machine for a while disturbs all sizes: always the one that had least time.
  void repeat_all() {
    while (true) {
      Size* next = nullptr;
      for (Size& size : sizes_)
        if (!partition::enough_repetitions(size.seconds) && fits(size) && (next == nullptr || size.spent < next->spent))
          next = &size;
      if (next == nullptr) return;
      repeat(*next);
    }
  }

  std::vector<MeasuredPoint> points() const {
    std::vector<MeasuredPoint> points;
    for (const Size& size : sizes_) points.push_back(summarize(size.records, size.seconds));
    return points;
  }

 private:
  struct Size {
    std::uint64_t records = 0;
    std::vector<double> seconds;
    double spent = 0;
  };

  double most() const { return static_cast<double>(limits_.most_records); }

  void repeat(Size& size) {
    const double begin = clock_;
    size.seconds.push_back(time_(size.records));
    clock_ = now_();
    size.spent += clock_ - begin;
  }

  /// Whether one more repetition likely ends in time.
  bool fits(const Size& size) const {
    return clock_ + size.spent / static_cast<double>(size.seconds.size()) <= limits_.deadline_seconds;
  }

  /// The next size; 0 = none.
  std::uint64_t larger(const Size& size) const {
    const double sizes = static_cast<double>(sizes_.size() + (leads_on_ ? 0 : 1));
    const double left = std::max(0.0, limits_.deadline_seconds - clock_);
    const double affordable = left / (kRepetitions * sizes * std::max(size.seconds.back(), 1e-9));
    const double records = static_cast<double>(size.records);
    const double next = std::min(records * std::min(affordable, kGrowth), most());
    return next >= kLeastGrowth * records ? static_cast<std::uint64_t>(next) : 0;
  }

  const TimeRecords& time_;
  const ClockSeconds& now_;
  const CurveLimits& limits_;
  double clock_;
  std::vector<Size> sizes_;  // ascending
  bool leads_on_ = false;    // the last one is too small to be a point, unless no larger one can follow
};

}  // namespace

MeasuredPoint summarize(std::uint64_t records, std::span<const double> seconds) {
  MeasuredPoint point{.records = records, .repetitions = seconds.size()};
  std::vector<double> kept(seconds.begin() + (seconds.size() > 1 ? 1 : 0), seconds.end());
  std::sort(kept.begin(), kept.end());
  const std::span<const double> middle = std::span(kept).subspan(kept.size() / 4, kept.size() - kept.size() / 4 * 2);
  point.seconds = std::accumulate(middle.begin(), middle.end(), 0.0) / static_cast<double>(middle.size());
  point.spread = std::min(1.0, partition::relative_half_width(kept));
  point.steady = partition::enough_repetitions(seconds);
  return point;
}

std::vector<MeasuredPoint> measure_curve(const TimeRecords& time, const ClockSeconds& now, const CurveLimits& limits) {
  CurveMeasurement measurement(time, now, limits);
  measurement.climb();
  measurement.repeat_all();
  return measurement.points();
}

}  // namespace hetsort::sort
