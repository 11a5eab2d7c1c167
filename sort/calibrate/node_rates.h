// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The relative speeds of nodes, from repeated sorts of several sizes.
//
// Idea: sizes are weighted by their time. Most clusters have few kinds of machines, and measured rates have errors of
// some percent. Nodes whose rates differ by no more than these errors get the same rate, so that chance does not decide
// their shares, and two calibrations of the same nodes give the same plans.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "sort/calibrate/measure_curve.h"

namespace hetsort::sort {

/// The duration of one sort on a rank: of its share alone, or of all ranks together.
struct TimedSort {
  Repetition whole;
  double forming_seconds = 0;  ///< of the whole: phase form_runs, as Work::seconds
};

struct NodeRate {
  double records_per_second = 0;  ///< above 0
  double half_width = 0;          ///< of its 95 % interval, relative to the rate; 1 when unknown
};

/// One rank's sorts of one size.
struct SortsOfSize {
  std::uint64_t records = 0;  ///< of this rank
  std::vector<TimedSort> sorts;
};

/// Which part of a sort's time determines the speed of a node in sorts together.
enum class RateBy {
  /// For sorts alone. Merging and writing count only if they take longer than an exchange that processors alone limit.
  /// Shorter times depend more on a disk that several nodes share than on the node.
  kAllPhases,
  /// For sorts alone and together: no node waits for others while it forms runs. Processors or links decide.
  kForming,
};

/// Relative rate of this node when all nodes sort together.
/// Requires: at least one size, and one sort of each.
NodeRate node_rate(std::span<const SortsOfSize> sizes, RateBy by);

/// Records a second of each node. Nodes whose rates differ by no more than their intervals, each of at most 10 %, get
/// the mean of their rates. Complexity: O(nodes log nodes).
std::vector<double> rates_beyond_chance(std::span<const NodeRate> nodes);

/// The rates of all ranks, in rank order. Collective. Throws: PeerFailed.
std::vector<NodeRate> gather_rates(const NodeRate& mine, comm::Communicator& ranks);

}  // namespace hetsort::sort
