// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Calibrations of simulated nodes. A test sets the model by which they behave, so the correct result is known.
#pragma once

#include <cstdint>
#include <vector>

#include "partition/run/predict_run.h"
#include "sort/calibrate/calibrate.h"
#include "tests/sort/inputs.h"

namespace hetsort::sort::test {

constexpr std::uint64_t kMuchMemory = 1'000'000'000;

/// The properties of the simulated nodes.
struct World {
  partition::RunModel model;       ///< link rates of a host in its ranks' rates; start_seconds is the age of the job
  double first_sort_extra = 0.25;  ///< the first sort of all takes so much longer, in seconds
  double noise = 0;                ///< fraction by which a time may be longer
  double link_waste = 1;           ///< links take so many times as long in a sort of all as in transfers
  bool half_duplex = false;        ///< what a host sends and what it receives share its link
  double head_start = 0;           ///< all flows to a host but the last end earlier by this part of the time
  int ranks_per_host = 1;
  std::vector<std::uint64_t> max_records{};  ///< limit of each rank; large if not given
  /// In two of three sorts the host of the last rank takes its processors away. These sorts take so many times as long.
  double stolen_times = 1;
  /// A quota limits each rank, so that its processor time is known. Seconds on the clock in sorts alone are then wrong
  /// by this factor. 1 = no quota.
  double quota_error = 1;
  double alone_error = 1;  ///< forming runs alone takes the first rank so many times as long as beside the others
  std::uint64_t seed = test::test_seed();
};

/// Nodes that form runs and merge at these speeds, in records a second and n ln n, with links and disks that are never
/// waited for.
World world_of(const std::vector<double>& speeds);

/// The model with links that take so many times as long.
partition::RunModel with_slower_links(partition::RunModel model, double times);

struct Outcome {
  Calibration calibration;
  double seconds = 0;              ///< the longest of the ranks
  std::uint64_t most_records = 0;  ///< the most that a sort of any rank had
  bool too_many = false;           ///< some sort had more records than fit its rank
};

/// All ranks in this process.
Outcome calibrate_world(const World& world, double seconds);

}  // namespace hetsort::sort::test
