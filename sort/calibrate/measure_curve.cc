// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/calibrate/measure_curve.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "sort/calibrate/repetition_rule.h"

namespace hetsort::sort {

namespace {

// From a size to the next; from the last but one to the last if time allows no more.
constexpr std::uint64_t kGrowth = 4;
constexpr std::uint64_t kLastGrowth = 2;
// The minimum of the rule, and two more.
constexpr std::size_t kMinRepetitions = 6;
constexpr std::size_t kRepetitions = kMinRepetitions + 2;
// A visit to a size ends after this fraction of the whole time, or after so many repetitions.
constexpr double kVisitPart = 0.015;
constexpr std::size_t kMaxOfVisit = 2 * kRepetitions;
// A repetition is an outlier if the host stole more than this fraction of its time.
constexpr double kMaxStolen = 0.1;
// Resolution of the clock of stolen time.
constexpr double kGrainSeconds = 0.01;

/// The seconds, in order, of repetitions of which at most this part was stolen.
std::vector<double> less_stolen(std::span<const Repetition> repetitions, double part) {
  std::vector<double> seconds;
  for (const Repetition& one : repetitions)
    if (one.stolen_seconds <= part * positive_seconds(one) + kGrainSeconds) seconds.push_back(one.seconds);
  return seconds;
}

/// The seconds of the repetitions that count, at least one.
std::vector<double> without_outliers(std::span<const Repetition> repetitions) {
  // The stolen part exceeds 1 if the kernel accounts for stolen time late.
  double least_stolen = std::numeric_limits<double>::max();
  for (const Repetition& one : repetitions)
    least_stolen = std::min(least_stolen, one.stolen_seconds / positive_seconds(one));
  return less_stolen(repetitions, least_stolen + kMaxStolen);
}

/// The repetitions of one size.
struct Repeated {
  std::uint64_t records = 0;
  std::vector<Repetition> repetitions{};
  /// The same, including their preparation.
  std::vector<Repetition> on_clock{};

  /// If the host stole time from all repetitions, the size has not converged.
  bool converged() const { return enough_repetitions(less_stolen(repetitions, kMaxStolen)); }
  bool measured() const {
    return converged() || less_stolen(repetitions, kMaxStolen).size() >= kRepetitions ||
           repetitions.size() >= 2 * kRepetitions;
  }
  /// Predicted seconds of one more repetition on the clock.
  double each_seconds() const { return usual_seconds(on_clock); }
  /// The same with `times` as many records. The time before and after the work stays the same.
  double each_seconds_of(double times) const { return each_seconds() + (times - 1) * usual_seconds(repetitions); }

 private:
  /// Mean of those that count, without the first if there are more: the first warms up.
  static double usual_seconds(std::span<const Repetition> sorts) {
    const std::vector<double> all = without_outliers(sorts);
    const std::span<const double> next = std::span(all).subspan(all.size() > 1 ? 1 : 0);
    return std::accumulate(next.begin(), next.end(), 0.0) / static_cast<double>(next.size());
  }
};

/// The largest size for which the remaining time suffices; 0 = none.
std::uint64_t next_size(const Repeated& last, double left_seconds, std::uint64_t most) {
  // A size near the last one adds no information.
  constexpr double kMinGrowth = 1.25;
  for (const std::uint64_t growth : {kGrowth, kLastGrowth}) {
    const std::uint64_t next = last.records < most / growth ? last.records * growth : most;
    const double times = static_cast<double>(next) / static_cast<double>(last.records);
    if (times >= kMinGrowth && kMinRepetitions * last.each_seconds_of(times) <= left_seconds) return next;
  }
  return 0;
}

}  // namespace

double positive_seconds(const Repetition& repetition) { return std::max(1e-9, repetition.seconds); }

MeasuredPoint summarize(std::uint64_t records, std::span<const Repetition> repetitions) {
  const std::vector<double> seconds = without_outliers(repetitions);
  MeasuredPoint point{.records = records, .repetitions = seconds.size()};
  point.outliers = repetitions.size() - seconds.size();
  std::vector<double> kept(seconds.begin() + (seconds.size() > 1 ? 1 : 0), seconds.end());
  point.spread = std::min(1.0, relative_half_width(kept));
  point.converged = enough_repetitions(seconds);
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
    for (std::size_t i = 0; i < kMaxOfVisit && clock < end && time_left(size); ++i) repeat(size);
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
  // The largest first: predictions beyond it depend on it.
  for (auto size = sizes.rbegin(); size != sizes.rend(); ++size)
    while (!size->converged() && time_left(*size)) repeat(*size);
  std::vector<MeasuredPoint> points;
  points.reserve(sizes.size());
  for (const Repeated& size : sizes) points.push_back(summarize(size.records, size.repetitions));
  return points;
}

}  // namespace hetsort::sort
