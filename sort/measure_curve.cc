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
// Nearer sizes tell little more. Small, so that all nodes get to sizes that take them about as long: curves of unlike
// reach compare badly.
constexpr double kLeastGrowth = 1.25;
// The rule's fewest repetitions, and two for doubt: time must suffice for so many of each size.
constexpr double kRepetitions = 8;
// What a size may take of the time that is left, so that smaller ones are repeated too.
constexpr double kPartOfTime = 0.6;

// A repetition of so many times the median met something else: a disk that was busy, memory that came late.
constexpr double kDisturbed = 1.5;

/// One size and what it took.
struct Series {
  std::uint64_t records = 0;
  std::vector<double> seconds{};
  double cost_seconds = 0;  // on the clock, the longest; the first, which prepares the size, until there is another
};

class CurveMeasurement {
 public:
  CurveMeasurement(const TimeRecords& time, const ClockSeconds& now, const CurveLimits& limits)
      : time_(time), now_(now), limits_(limits), clock_(now()) {}

  std::vector<MeasuredPoint> run() {
    find_sizes();
    repeat();
    std::vector<MeasuredPoint> points;
    for (const Series& series : sizes_) points.push_back(summarize(series.records, series.seconds));
    return points;
  }

 private:
  /// Each once.
  void find_sizes() {
    std::uint64_t records = std::max<std::uint64_t>(1, std::min(limits_.first_records, limits_.most_records));
    while (records > 0) {
      Series series{.records = records};
      const double begin = clock_;
      measure(series);
      const double seconds = series.seconds.front();
      // Once, to prepare a size.
      const double preparation = std::max(0.0, clock_ - begin - seconds);
      sizes_.push_back(std::move(series));
      records = next_size(preparation);
      if (records > 0 && seconds < kShortestSeconds) sizes_.pop_back();
    }
  }

  /// Larger than the last by kGrowth, or by what the time that is left suffices for; 0 = none.
  std::uint64_t next_size(double preparation) const {
    const Series& last = sizes_.back();
    const double left = kPartOfTime * std::max(0.0, limits_.deadline_seconds - clock_);
    const double affordable = left / std::max(kRepetitions * last.seconds.front() + preparation, kShortestClock);
    const auto records = static_cast<double>(last.records);
    const double larger = std::min(records * std::min(affordable, kGrowth), static_cast<double>(limits_.most_records));
    return larger >= kLeastGrowth * records ? static_cast<std::uint64_t>(larger) : 0;
  }

  /// From the largest down, so that each finds the memory warm, as the sort before has left it.
  void repeat() {
    for (auto series = sizes_.rbegin(); series != sizes_.rend(); ++series) {
      const double left = limits_.deadline_seconds - clock_;
      const double end = clock_ + (series + 1 == sizes_.rend() ? left : kPartOfTime * left);
      while (!partition::enough_repetitions(series->seconds) && clock_ + series->cost_seconds <= end) measure(*series);
    }
  }

  void measure(Series& series) {
    const double begin = clock_;
    series.seconds.push_back(time_(series.records));
    clock_ = now_();
    const double longest = series.seconds.size() > 2 ? series.cost_seconds : 0;
    series.cost_seconds = std::max(longest, clock_ - begin);
  }

  static constexpr double kShortestClock = 1e-9;

  const TimeRecords& time_;
  const ClockSeconds& now_;
  const CurveLimits& limits_;
  double clock_;
  std::vector<Series> sizes_;  // ascending
};

}  // namespace

MeasuredPoint summarize(std::uint64_t records, std::span<const double> seconds) {
  MeasuredPoint point{.records = records, .repetitions = seconds.size()};
  std::vector<double> kept(seconds.begin() + (seconds.size() > 1 ? 1 : 0), seconds.end());
  point.spread = std::min(1.0, partition::relative_half_width(kept));
  point.steady = partition::enough_repetitions(seconds);
  std::sort(kept.begin(), kept.end());
  const double disturbed = kDisturbed * kept[kept.size() / 2];
  while (kept.back() > disturbed) kept.pop_back();
  const std::span<const double> middle = std::span(kept).subspan(kept.size() / 4, kept.size() - kept.size() / 4 * 2);
  point.seconds = std::accumulate(middle.begin(), middle.end(), 0.0) / static_cast<double>(middle.size());
  return point;
}

std::vector<MeasuredPoint> measure_curve(const TimeRecords& time, const ClockSeconds& now, const CurveLimits& limits) {
  return CurveMeasurement(time, now, limits).run();
}

}  // namespace hetsort::sort
