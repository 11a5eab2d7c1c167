// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Calibration: measures the nodes of a job, so that plans can predict the duration of whole sorts.
//
// In: on each rank a Bench, which measures; all ranks measure at the same time. Out: on rank 0, the measurements of all
// nodes and links.
// Idea: in a sort, nodes also send and receive blocks and wait for each other. So whole sorts are timed:
//   1. All nodes sort at the same time, each for itself. This shows their relative speeds. The time to form runs
//      decides. If the time of all phases gives clearly different shares, a few sorts of all nodes compare both kinds
//      of shares. The second kind is faster where a disk, and not a link, holds up the exchange.
//   2. All nodes sort together with shares in proportion to these speeds, for several numbers of records. The time to
//      form runs in these sorts corrects the shares of the next ones.
// A node's curve has one point for each number of records: the node's share, and the seconds of the whole sort. A plan
// for that number repeats the sort; a plan between two points is interpolated.
// The start of a job is measured once and kept separate. It also contains the time by which the first sort takes longer
// than later ones (connections, threads, cold caches), because a user's sort is the first of its process.
// Cost: at most `seconds`, plus the last repetition of a slow node; one file of records in and out on each node.
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

/// The measurements that calibration needs from a rank. All calls come from one thread.
class Bench {
 public:
  Bench() = default;
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  virtual ~Bench() = default;

  /// Seconds on a clock of this rank.
  virtual double now_seconds() = 0;
  /// When the job began, on the same clock.
  virtual double job_start_seconds() = 0;
  virtual DiskRates measure_disk(double seconds) = 0;
  /// As measure_link(). Collective of the two ranks.
  virtual LinkRates measure_link(int peer, double seconds) = 0;
  /// Sorts this rank's share alone, while the other ranks sort theirs. Collective.
  virtual TimedSort sort_alone(const std::vector<std::uint64_t>& shares) = 0;
  /// A sort of all ranks, each of which begins and ends with its share: the time until this rank's share was complete.
  /// Collective.
  virtual TimedSort sort_together(const std::vector<std::uint64_t>& shares) = 0;
};

struct CalibrationLimits {
  double seconds = 0;              ///< for the whole
  std::uint64_t most_records = 0;  ///< records that fit this rank's memory; 0 counts as 1
};

/// Measurements of one rank's node before all nodes sort together.
struct NodeMeasurements {
  DiskRates disk;
  LinkRates from_root;               ///< zeros for rank 0 itself
  std::vector<MeasuredPoint> alone;  ///< empty in a job of one rank
};

/// Sorts of one number of records by all ranks together.
struct TogetherPoint {
  MeasuredPoint whole;  ///< records of all ranks
  std::vector<std::uint64_t> shares;
};

struct Calibration {
  double start_seconds = 0;                   ///< before a job's first sort, plus the extra time of that sort
  std::vector<NodeMeasurements> nodes;        ///< by rank
  std::vector<TogetherPoint> together;        ///< ascending
  std::vector<std::vector<LinkRates>> links;  ///< [from][to]; zeros from a rank to itself
};

/// Called with what is measured next.
using ProgressCallback = std::function<void(const std::string& stage)>;

/// Measures all nodes. The result is on rank 0; on other ranks it is empty. Collective. Throws: what the bench throws;
/// PeerFailed.
Calibration calibrate(Bench& bench, const CalibrationLimits& limits, comm::Communicator& ranks,
                      const ProgressCallback& on_progress = {});

/// A point of a node's curve.
struct NodePoint {
  std::uint64_t records = 0;  ///< the node's
  double seconds = 0;
  const MeasuredPoint* measured = nullptr;  ///< where it comes from; null = extrapolated in a straight line
};

/// The curve of one rank's node: ascending records, seconds that never fall, at least one point. Its points are those
/// of the sorts together, extrapolated down to one record; in a job of one rank, those of the sorts alone. The end is
/// extrapolated to a thousand times the records.
std::vector<NodePoint> node_curve(const Calibration& calibration, std::size_t rank);

}  // namespace hetsort::sort
