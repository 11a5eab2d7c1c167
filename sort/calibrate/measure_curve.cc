// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/calibrate/measure_curve.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "sort/calibrate/repetition_rule.h"

namespace hetsort::sort {

namespace {

// Between a size and the next; between the last two where time does not suffice for more.
constexpr std::uint64_t kGrowth = 4;
constexpr std::uint64_t kLastGrowth = 2;
// The rule's, and with two for doubt.
constexpr std::size_t kFewestRepetitions = 6;
constexpr std::size_t kRepetitions = kFewestRepetitions + 2;
// Of all the time, for one more visit to a size; with no more repetitions than tell something.
constexpr double kVisitPart = 0.015;
constexpr std::size_t kMostOfVisit = 2 * kRepetitions;
// Of a repetition's time; and what the clocks of processors cannot tell.
constexpr double kMostStolen = 0.1;
constexpr double kGrainSeconds = 0.01;

/// The seconds of those of which no larger part was stolen, in order.
std::vector<double> less_stolen(std::span<const Repetition> repetitions, double part) {
  std::vector<double> seconds;
  for (const Repetition& one : repetitions)
    if (one.stolen_seconds <= part * positive_seconds(one) + kGrainSeconds) seconds.push_back(one.seconds);
  return seconds;
}

/// Of those that count: as calm as the calmest one, about. At least that one.
std::vector<double> undisturbed(std::span<const Repetition> repetitions) {
  // Beyond 1 where the kernel accounts for it late.
  double calmest = std::numeric_limits<double>::max();
  for (const Repetition& one : repetitions) calmest = std::min(calmest, one.stolen_seconds / positive_seconds(one));
  return less_stolen(repetitions, calmest + kMostStolen);
}

/// One size.
struct Repeated {
  std::uint64_t records = 0;
  std::vector<Repetition> repetitions{};
  /// The same, what each makes ready included.
  std::vector<Repetition> on_clock{};

  /// A size that has met the host at work only is not.
  bool steady() const { return enough_repetitions(less_stolen(repetitions, kMostStolen)); }
  bool measured() const {
    return steady() || less_stolen(repetitions, kMostStolen).size() >= kRepetitions ||
           repetitions.size() >= 2 * kRepetitions;
  }
  /// What one more takes on the clock.
  double each_seconds() const { return usual_seconds(on_clock); }
  /// The same of so many times the records: what comes before a sort and after it takes as long.
  double each_seconds_of(double times) const { return each_seconds() + (times - 1) * usual_seconds(repetitions); }

 private:
  /// Mean of those that count, without the first where there are more: that one makes the size ready.
  static double usual_seconds(std::span<const Repetition> sorts) {
    const std::vector<double> all = undisturbed(sorts);
    const std::span<const double> next = std::span(all).subspan(all.size() > 1 ? 1 : 0);
    return std::accumulate(next.begin(), next.end(), 0.0) / static_cast<double>(next.size());
  }
};

/// The largest for which the time that is left suffices; 0 = none.
std::uint64_t next_size(const Repeated& last, double left_seconds, std::uint64_t most) {
  // A size near the last one would tell nothing.
  constexpr double kLeastGrowth = 1.25;
  for (const std::uint64_t growth : {kGrowth, kLastGrowth}) {
    const std::uint64_t next = last.records < most / growth ? last.records * growth : most;
    const double times = static_cast<double>(next) / static_cast<double>(last.records);
    if (times >= kLeastGrowth && kFewestRepetitions * last.each_seconds_of(times) <= left_seconds) return next;
  }
  return 0;
}

}  // namespace

double positive_seconds(const Repetition& repetition) { return std::max(1e-9, repetition.seconds); }

MeasuredPoint summarize(std::uint64_t records, std::span<const Repetition> repetitions) {
  const std::vector<double> seconds = undisturbed(repetitions);
  MeasuredPoint point{.records = records, .repetitions = seconds.size()};
  point.disturbed = repetitions.size() - seconds.size();
  std::vector<double> kept(seconds.begin() + (seconds.size() > 1 ? 1 : 0), seconds.end());
  point.spread = std::min(1.0, relative_half_width(kept));
  point.steady = enough_repetitions(seconds);
  std::sort(kept.begin(), kept.end());
  const std::span<const double> shorter = std::span(kept).first((kept.size() + 1) / 2);
  point.seconds = std::accumulate(shorter.begin(), shorter.end(), 0.0) / static_cast<double>(shorter.size());
  return point;
}

std::vector<MeasuredPoint> measure_curve(const TimeRecords& time, const ClockSeconds& now, const CurveLimits& limits) {
  double clock = now();
  const auto repeat = [&](Repeated& size) {
    const double begin = clock;
    size.repetitions.push_back(time(size.records));
    clock = now();
    size.on_clock.push_back({clock - begin, size.repetitions.back().stolen_seconds});
  };
  const auto time_left = [&](const Repeated& size) { return clock + size.each_seconds() <= limits.deadline_seconds; };
  const double visit_seconds = kVisitPart * (limits.deadline_seconds - clock);
  const auto visit = [&](Repeated& size) {
    const double end = clock + visit_seconds;
    for (std::size_t i = 0; i < kMostOfVisit && clock < end && time_left(size); ++i) repeat(size);
  };
  std::vector<Repeated> sizes;
  std::uint64_t records = std::max<std::uint64_t>(1, std::min(limits.first_records, limits.most_records));
  while (records > 0) {
    Repeated& size = sizes.emplace_back(Repeated{records});
    do repeat(size);
    while (!size.measured() && time_left(size));
    for (Repeated& visited : sizes) visit(visited);
    const double of_visits = visit_seconds * static_cast<double>(sizes.size());
    records = next_size(size, limits.deadline_seconds - clock - of_visits, limits.most_records);
  }
  // The largest first: what lies beyond is foretold by it.
  for (auto size = sizes.rbegin(); size != sizes.rend(); ++size)
    while (!size->steady() && time_left(*size)) repeat(*size);
  std::vector<MeasuredPoint> points;
  points.reserve(sizes.size());
  for (const Repeated& size : sizes) points.push_back(summarize(size.records, size.repetitions));
  return points;
}

}  // namespace hetsort::sort
