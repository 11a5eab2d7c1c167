// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures the duration of some work for growing numbers of records. Each size is repeated until its mean is known well
// enough.
//
// Sizes grow by a factor of four, so that two calibrations measure the same sizes; the last may grow by two, if time
// allows no more. A size is repeated until enough_repetitions() holds (then it has converged), or eight
// times. After each new size, all sizes are visited again for a small part of the time. A machine may be slow for a
// second or two, and short repetitions would otherwise all fall into such a time. The time that is left goes to the
// largest size that has not converged. A size that never converges is kept with its spread.
//
// The host of a virtual machine may take its processors away for seconds or minutes, during which a sort takes ten
// times as long. Such a repetition is an outlier and is made again, but only as often as a size is repeated. If all
// repetitions are like that, they count.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace hetsort::sort {

struct Repetition {
  double seconds = 0;
  double stolen_seconds = 0;  ///< the part during which the host took processors away, see sort::stolen_seconds()
};

/// Its seconds as a divisor: never 0.
double positive_seconds(const Repetition& repetition);

struct MeasuredPoint {
  std::uint64_t records = 0;
  /// Mean of the shorter half of the repetitions, without the first if there are more. Other work of a machine makes
  /// repetitions longer and never shorter. The median would be less stable: under a quota of processor time repetitions
  /// fall into two groups, between which it jumps.
  double seconds = 0;
  double spread = 0;  ///< half-width of the 95 % interval of the mean of all, relative to it; 1 when unknown
  std::uint64_t repetitions = 0;  ///< the number that count, the first included
  std::uint64_t outliers = 0;     ///< discarded repetitions, during which a host took processors away
  bool converged = false;
};

struct CurveLimits {
  std::uint64_t first_records = 1;
  std::uint64_t most_records = 1;  ///< 0 counts as 1
  double deadline_seconds = 0;     ///< on the clock; only the first repetition may be predicted to end later
};

/// Does the work for `records` and returns its duration.
using TimeRecords = std::function<Repetition(std::uint64_t records)>;
/// Seconds on some clock.
using ClockSeconds = std::function<double()>;

/// Returns at least one point, ascending. Collective if `time` or `now` is: the order of calls depends only on what
/// they return. Throws: what they throw.
std::vector<MeasuredPoint> measure_curve(const TimeRecords& time, const ClockSeconds& now, const CurveLimits& limits);

/// The point of one size. Discards a repetition whose stolen part exceeds the lowest one's by more than 10 percentage
/// points. Requires: at least one repetition.
MeasuredPoint summarize(std::uint64_t records, std::span<const Repetition> repetitions);

}  // namespace hetsort::sort
