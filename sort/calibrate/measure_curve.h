// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// How long something takes for more and more records: each size again and again until its mean is known well enough.
//
// Sizes grow fourfold from the first, so that two runs measure the same ones, the last perhaps twofold, by what time
// allows. Each is measured until the rule of enough_repetitions holds, or eight times. After each new one
// all are visited for a small part of the time: that costs little, and a machine may be slow for a second or two, which
// is all that short sorts would see of it. Time that is left then goes to the largest that is not steady. What never
// gets steady is kept all the same, with its spread.
//
// A virtual machine's host may keep its processors for seconds or minutes, in which a sort takes ten times as long.
// Such a repetition is made again, at most as many as a size shall have; where all are like that, they are how the
// machine is.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace hetsort::sort {

struct Repetition {
  double seconds = 0;
  double stolen_seconds = 0;  ///< of these, as in stolen_seconds()
};

/// To divide by: never 0.
double positive_seconds(const Repetition& repetition);

struct MeasuredPoint {
  std::uint64_t records = 0;
  /// Mean of the shorter half of the repetitions, the first left out where there are more: whatever else a machine does
  /// makes them longer, and never shorter. Under a quota of processor time they fall into two groups, between which a
  /// single one, as the median, jumps.
  double seconds = 0;
  double spread = 0;  ///< half-width of the 95 % interval of all their mean, as a part of it; 1 when it cannot be told
  std::uint64_t repetitions = 0;  ///< the first included
  std::uint64_t disturbed = 0;    ///< more of them, which do not count: hosts kept the processors
  bool steady = false;
};

struct CurveLimits {
  std::uint64_t first_records = 1;
  std::uint64_t most_records = 1;  ///< 0 counts as 1
  double deadline_seconds = 0;     ///< on the clock: no repetition that would likely end later, but for one
};

/// What `records` took.
using TimeRecords = std::function<Repetition(std::uint64_t records)>;
/// Seconds on some clock.
using ClockSeconds = std::function<double()>;

/// At least one point, ascending. Collective if `time` or `now` is: both are called in an order that depends on what
/// they return alone. Throws: what they throw.
std::vector<MeasuredPoint> measure_curve(const TimeRecords& time, const ClockSeconds& now, const CurveLimits& limits);

/// What repetitions of one size amount to: those do not count of which a tenth more was stolen than of the calmest one.
/// Requires: at least one.
MeasuredPoint summarize(std::uint64_t records, std::span<const Repetition> repetitions);

}  // namespace hetsort::sort
