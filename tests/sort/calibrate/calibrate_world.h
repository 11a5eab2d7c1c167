// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Calibrations of simulated nodes. A test sets their speeds, noise and clocks, so the correct result is known.
#pragma once

#include <cstdint>
#include <vector>

#include "sort/calibrate/calibrate.h"
#include "tests/sort/inputs.h"

namespace hetsort::sort::test {

constexpr double kStart = 0.01;
constexpr double kFirstSortExtra = 0.25;
constexpr double kJobAge = 0.125;
constexpr double kClockStart = 1000;
constexpr std::uint64_t kMuchMemory = 1'000'000'000;

/// The properties of the simulated nodes.
struct World {
  std::vector<double> records_per_second;  ///< of each rank
  double noise = 0;                        ///< a time is off by up to this part
  double together = 1.5;                   ///< a sort of all takes so many times as long as each one's alone
  std::vector<double> forming{};           ///< part of each rank's sort alone; a quarter if not given
  std::vector<double> exchanged{};         ///< records a second over each rank's link, beside which all else is nothing
  std::vector<double> forming_alone{};     ///< each rank's forming takes so many times as long in sorts alone
  std::uint64_t formed_alike = 0;          ///< runs of no more records than that are formed as fast by all
  double first_sort_extra = kFirstSortExtra;  ///< the first sort of all takes so much longer, in seconds
  /// Between these seconds on the clock, the host of the last rank takes its processors away. This lengthens a sort by
  /// `burst_times` its own duration.
  double burst_begin = 0;
  double burst_end = 0;
  double burst_times = 0;
  std::uint64_t seed = test::test_seed();
};

struct Outcome {
  Calibration calibration;
  double seconds = 0;  ///< the longest of the ranks
  std::vector<std::vector<int>> peers;
  std::vector<std::vector<std::uint64_t>> alone;     ///< the shares of each sort alone
  std::vector<std::vector<std::uint64_t>> together;  ///< and of all
};

/// All ranks in this process.
Outcome calibrate_world(const World& world, const CalibrationLimits& limits);

}  // namespace hetsort::sort::test
