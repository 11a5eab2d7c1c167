// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Calibration: measures the resources of the nodes of a job, for the model of a whole run
// (partition/run/predict_run.h).
//
// In: on each rank a Bench, which measures. Out: on rank 0, the measurements of all nodes.
// Idea: each resource is timed while all nodes that share it are busy.
//   1. disks: all nodes write and read at the same time.
//   2. links: pairs of nodes, then each host sends to and receives from all others at once, then all hosts at once.
//   3. processors: each node sorts for itself, all at the same time, for a few sizes. This gives the costs of forming
//      runs and of merging.
//   4. whole sorts of all nodes, with the shares that the model plans. What their exchange takes longer than links,
//      disks and merging explain is the processor's cost of messages.
//   5. whole sorts again, to compare them with the prediction.
// The start of a job is measured once and kept separate. It also contains the time by which the first sort takes longer
// than later ones (connections, threads, cold caches), because a user's sort is the first of its process.
// Cost: about `seconds`; one file of records in and out on each node.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "sort/machine/disk_rates.h"

namespace hetsort::sort {

/// Bytes that one rank sends to another.
struct Flow {
  int from = 0;
  int to = 0;
  std::uint64_t bytes = 0;
};

/// One sort on one rank, in seconds.
struct SortTimes {
  double form = 0;      ///< phase form_runs
  double exchange = 0;  ///< phase exchange; of a rank alone, merging
  double publish = 0;   ///< phase publish, waiting for other ranks included
  double whole = 0;     ///< from the call to the published output
  double stolen = 0;    ///< during which the host of this virtual machine took processors away
};

/// The measurements that calibration needs from a rank. All calls come from one thread. All but the clocks are
/// collective.
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
  /// Sends all flows at once. Returns for each flow the seconds until this rank had received it; 0 for flows to others.
  virtual std::vector<double> transfer(const std::vector<Flow>& flows) = 0;
  /// Each rank sorts so many records of its own for itself, all at the same time.
  virtual SortTimes sort_alone(std::uint64_t records) = 0;
  /// A sort by all ranks. Rank i reads input[i] records and ends with output[i].
  virtual SortTimes sort_together(const std::vector<std::uint64_t>& input,
                                  const std::vector<std::uint64_t>& output) = 0;
};

/// What is known of a rank without measuring.
struct NodeFacts {
  std::string host;
  std::uint64_t memory_bytes = 0;
  std::uint64_t threads = 1;
  std::uint64_t max_records = 1;  ///< of a sort that fits this rank's memory and disk
};

/// Forming runs of so many records.
struct FormPoint {
  std::uint64_t records = 0;
  double seconds = 0;
};

/// Measurements of one rank's node. Rates are in bytes per second; 0 = there is no link.
struct NodeMeasurements {
  NodeFacts facts;
  DiskRates disk;
  std::vector<FormPoint> form;  ///< ascending records, seconds that never fall
  double merge_seconds = 0;     ///< for each record
  double message_seconds = 0;   ///< of the processor, for each byte sent or received; 0 on all nodes = none seen
  double link_in = 0;           ///< of the host
  double link_out = 0;
  std::vector<double> links;  ///< to each rank
};

/// A whole sort of all nodes, compared with the model.
struct SortCheck {
  std::uint64_t records = 0;
  double predicted_form = 0;
  double predicted_exchange = 0;
  double predicted = 0;
  SortTimes measured;  ///< of the latest rank; publish is that of the rank which waits the least
};

struct Calibration {
  double start_seconds = 0;  ///< before a job's first sort, plus the extra time of that sort
  double select_seconds = 0;
  double publish_seconds = 0;
  double shared_link = 0;  ///< of all hosts together; 0 = they do not share one
  std::vector<NodeMeasurements> nodes;
  std::optional<SortCheck> check;
};

struct CalibrationRequest {
  double seconds = 20;  ///< for the whole
  std::uint64_t record_bytes = 100;
  NodeFacts facts;  ///< of this rank
  /// Called with what is measured next.
  std::function<void(const std::string& stage)> on_progress{};
};

/// Measures all nodes. The result is on rank 0; on other ranks it is incomplete. Collective. Throws: what the bench
/// throws; PeerFailed.
Calibration calibrate(Bench& bench, const CalibrationRequest& request, comm::Communicator& ranks);

}  // namespace hetsort::sort
