// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/measure_curve.h"

#include <algorithm>
#include <numeric>

#include "partition/learning.h"

namespace hetsort::sort {

namespace {

// Between a size and the next; between the last two where time does not suffice for more.
constexpr std::uint64_t kGrowth = 4;
constexpr std::uint64_t kLastGrowth = 2;
// The rule's fewest repetitions, and two for doubt.
constexpr std::size_t kRepetitions = 8;
// A repetition of so many times the median met something else: a disk that was busy, memory that came late.
constexpr double kDisturbed = 1.5;

/// One size.
struct Repeated {
  std::uint64_t records = 0;
  std::vector<double> seconds{};
  /// Mean time of a repetition on the clock, without the first where there are more: that one makes the size ready.
  double each_seconds = 0;

  bool steady() const { return partition::enough_repetitions(seconds); }
};

/// The largest for which the time that is left suffices; 0 = none.
std::uint64_t next_size(const Repeated& last, double left_seconds, std::uint64_t most) {
  // A size near the last one would tell nothing.
  constexpr double kLeastGrowth = 1.25;
  for (const std::uint64_t growth : {kGrowth, kLastGrowth}) {
    const std::uint64_t next = last.records < most / growth ? last.records * growth : most;
    const double times = static_cast<double>(next) / static_cast<double>(last.records);
    if (times >= kLeastGrowth && kRepetitions * times * last.each_seconds <= left_seconds) return next;
  }
  return 0;
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
  double clock = now();
  const auto repeat = [&](Repeated& size) {
    const double begin = clock;
    size.seconds.push_back(time(size.records));
    clock = now();
    const std::size_t counted = std::max<std::size_t>(2, size.seconds.size()) - 1;
    size.each_seconds += (clock - begin - size.each_seconds) / static_cast<double>(counted);
  };
  const auto time_left = [&](const Repeated& size) { return clock + size.each_seconds <= limits.deadline_seconds; };
  std::vector<Repeated> sizes;
  std::uint64_t records = std::max<std::uint64_t>(1, std::min(limits.first_records, limits.most_records));
  while (records > 0) {
    Repeated& size = sizes.emplace_back(Repeated{records});
    do repeat(size);
    while (!size.steady() && size.seconds.size() < kRepetitions && time_left(size));
    records = next_size(size, limits.deadline_seconds - clock, limits.most_records);
  }
  // The largest first: what lies beyond is foretold by it.
  for (auto size = sizes.rbegin(); size != sizes.rend(); ++size)
    while (!size->steady() && time_left(*size)) repeat(*size);
  std::vector<MeasuredPoint> points;
  points.reserve(sizes.size());
  for (const Repeated& size : sizes) points.push_back(summarize(size.records, size.seconds));
  return points;
}

}  // namespace hetsort::sort
