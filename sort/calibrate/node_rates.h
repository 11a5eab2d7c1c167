// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// How fast nodes are beside each other, by what each took in repeated sorts of several sizes.
//
// Idea: sizes count by the time they took. Most clusters have few kinds of machines, and what repetitions tell of a
// node is off by some percent. Nodes that differ by no more than that are taken as alike, so that chance does not
// decide their shares: two calibrations of the same nodes then plan the same.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "sort/calibrate/measure_curve.h"

namespace hetsort::sort {

/// What one sort took a rank: of its share for itself, or of all ranks together.
struct TimedSort {
  Repetition whole;
  double forming_seconds = 0;  ///< of the whole: phase form_runs, as Work::seconds
};

struct NodeRate {
  double records_per_second = 0;  ///< above 0
  double half_width = 0;          ///< of its 95 % interval, as a part of it; 1 when it cannot be told
};

/// One rank's sorts of one size.
struct SortsOfSize {
  std::uint64_t records = 0;  ///< of this rank
  std::vector<TimedSort> sorts;
};

/// What of a sort tells how fast a node is in sorts of all.
enum class RateBy {
  /// Of sorts alone. Merging and writing, which there follow each other faster, count where they take longer than an
  /// exchange that processors decide: otherwise they tell how a disk that several nodes share served each of them.
  kAllPhases,
  /// They never count: processors or links decide. Of sorts alone, and of all: to form runs no node waits for others.
  kForming,
};

/// Of a node in sorts of all nodes, but for a factor that they have in common.
/// Requires: at least one size, and one sort of each.
NodeRate node_rate(std::span<const SortsOfSize> sizes, RateBy by);

/// Records a second of each node. Those of nodes that differ by no more than their intervals, of at most a tenth each,
/// explain are the same: their mean. Complexity: O(nodes log nodes).
std::vector<double> rates_beyond_chance(std::span<const NodeRate> nodes);

/// Of all ranks, in rank order. Collective. Throws: PeerFailed.
std::vector<NodeRate> gather_rates(const NodeRate& mine, comm::Communicator& ranks);

}  // namespace hetsort::sort
