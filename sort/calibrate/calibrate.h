// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Calibration: what is measured, in which order, and what a cluster file makes of it.
//
// In: a Bench that measures, on each rank, all ranks at once. Out: on rank 0, what is known of all nodes and links.
// Idea: a plan must foretell whole runs, in which nodes send and receive blocks besides sorting, and wait for each
// other at the same points. So it is whole runs that are timed. First each node sorts alone, all at once, to learn how
// unlike the nodes are: by how it forms runs, or by all that it does where that, its disk, would hold up an exchange.
// Whether it would, the links decide as well: where it makes a difference, sorts of all with either shares tell. With
// shares in proportion to that, all sort together, for a few numbers of records; how runs are formed in these corrects
// the shares of the next. A node's curve has a point for each: its share, and the seconds the run took. A plan of that
// many records is then that run again, and one in between lies between two runs. What a job takes before its first
// sort, and what that one takes longer than any later one (connections, threads, cold caches), is measured once and
// told apart: a user's sort is the first of its process.
// Cost: `seconds` of time at most, but for the last repetition of a slow node; one file of records in and out a node.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "sort/calibrate/link_rates.h"
#include "sort/calibrate/measure_curve.h"
#include "sort/calibrate/node_rates.h"
#include "sort/machine/disk_rates.h"

namespace hetsort::sort {

/// What calibration asks of a rank. All calls come from one thread.
class Bench {
 public:
  Bench() = default;
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  virtual ~Bench() = default;

  /// A clock.
  virtual double now_seconds() = 0;
  /// On that clock, when the job began.
  virtual double job_start_seconds() = 0;
  virtual DiskRates measure_disk(double seconds) = 0;
  /// As measure_link(). Collective of the two ranks.
  virtual LinkRates measure_link(int peer, double seconds) = 0;
  /// This rank sorts its share for itself, while the others sort theirs. Collective.
  virtual TimedSort sort_alone(const std::vector<std::uint64_t>& shares) = 0;
  /// Until this rank had its share of a sort of all ranks; each begins and ends with its share. Collective.
  virtual TimedSort sort_together(const std::vector<std::uint64_t>& shares) = 0;
};

struct CalibrationLimits {
  double seconds = 0;              ///< for the whole
  std::uint64_t most_records = 0;  ///< of this rank, in memory; 0 counts as 1
};

/// What is known of one rank's node before all sort together.
struct NodeMeasurements {
  DiskRates disk;
  LinkRates from_root;               ///< zeros for rank 0 itself
  std::vector<MeasuredPoint> alone;  ///< empty for a rank that has no others
};

/// One size of the sorts of all ranks.
struct TogetherPoint {
  MeasuredPoint whole;  ///< records of all ranks
  std::vector<std::uint64_t> shares;
};

struct Calibration {
  double start_seconds = 0;  ///< what a job takes before its first sort, and that one longer than any of the next
  std::vector<NodeMeasurements> nodes;        ///< by rank
  std::vector<TogetherPoint> together;        ///< ascending
  std::vector<std::vector<LinkRates>> links;  ///< [from][to]; zeros from a rank to itself
};

/// Told what is measured now.
using TellStage = std::function<void(const std::string& stage)>;

/// Measures. The result is rank 0's; elsewhere it is empty. Collective. Throws: what the bench throws; PeerFailed.
Calibration calibrate(Bench& bench, const CalibrationLimits& limits, comm::Communicator& ranks,
                      const TellStage& tell = {});

/// A point of a node's curve.
struct NodePoint {
  std::uint64_t records = 0;  ///< the node's
  double seconds = 0;
  const MeasuredPoint* measured = nullptr;  ///< what it comes from; null = carried on, or back, in a straight line
};

/// The curve of one rank's node: ascending, seconds never falling, at least one point. Where all have sorted together
/// those points, the first two carried back in a straight line to one record; else what the node did alone. The last
/// two carried on in a straight line, a thousandfold.
std::vector<NodePoint> node_curve(const Calibration& calibration, std::size_t rank);

}  // namespace hetsort::sort
