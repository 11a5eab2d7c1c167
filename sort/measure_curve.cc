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
constexpr double kShortestSeconds = 0.3;
constexpr std::uint64_t kGrowth = 4;
// The rule's fewest repetitions, and two for doubt.
constexpr double kRepetitions = 8;
// What one size may take of the time that is left: a noisy small one must not keep large ones from being measured.
constexpr double kMostOfRest = 0.3;
// A repetition of so many times the median met something else: a disk that was busy, memory that came late.
constexpr double kDisturbed = 1.5;

/// The next size: larger by kGrowth, or by what the time that is left suffices for; 0 = none.
std::uint64_t next_size(std::uint64_t records, double each_seconds, double left_seconds, std::uint64_t most) {
  const double affordable = std::max(0.0, left_seconds) / (kRepetitions * std::max(each_seconds, 1e-9));
  const double growth = std::min(affordable, static_cast<double>(kGrowth));
  const double larger = static_cast<double>(records) * growth;
  const std::uint64_t next = larger < static_cast<double>(most) ? static_cast<std::uint64_t>(larger) : most;
  // Small, so that all nodes get to sizes that take them about as long: curves of unlike reach compare badly.
  constexpr double kLeastGrowth = 1.25;
  return static_cast<double>(next) >= kLeastGrowth * static_cast<double>(records) ? next : 0;
}

/// How long a size may be measured: its part of the time that is left, or all of it where no larger size can follow.
double time_for(std::uint64_t records, double each_seconds, double left_seconds, std::uint64_t most) {
  const double part = std::min(left_seconds, std::max(kMostOfRest * left_seconds, kRepetitions * each_seconds));
  return next_size(records, each_seconds, left_seconds - part, most) != 0 ? part : left_seconds;
}

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
  std::vector<MeasuredPoint> points;
  double clock = now();
  std::uint64_t records = std::max<std::uint64_t>(1, std::min(limits.first_records, limits.most_records));
  while (records > 0) {
    const double begin = clock;
    const double left = std::max(0.0, limits.deadline_seconds - begin);
    std::vector<double> seconds;
    double each = 0;
    do {
      seconds.push_back(time(records));
      clock = now();
      each = (clock - begin) / static_cast<double>(seconds.size());
      if (seconds.size() == 1 && seconds[0] < kShortestSeconds && records * kGrowth <= limits.most_records) break;
    } while (!partition::enough_repetitions(seconds) &&
             clock + each <= begin + time_for(records, each, left, limits.most_records));
    const std::uint64_t next = next_size(records, each, limits.deadline_seconds - clock, limits.most_records);
    // What only led to a larger size is no point.
    if (!points.empty() && points.back().repetitions == 1) points.pop_back();
    points.push_back(summarize(records, seconds));
    records = next;
  }
  return points;
}

}  // namespace hetsort::sort
