// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Calibration: measures the resources of the nodes of a job, for the model of a whole run
// (partition/run/predict_run.h).
//
// In: on each rank a Bench, which measures. Out: on rank 0, the measurements of all nodes.
// Idea: each resource is timed while all nodes that share it are busy.
//   1. disks: all nodes write and read at the same time.
//   2. links: pairs of nodes, then each host exchanges with all others, then all hosts with each other.
//   3. processors: each node sorts for itself, all at the same time, for a few sizes. This gives the costs of forming
//      runs and of merging. Outputs are not synced, so that no node waits for a disk.
//   4. whole sorts of all nodes, also not synced, whose shares differ so that different resources bind them. The costs
//      of messages and links are fitted to their exchanges (fit_exchange.h).
//   5. whole sorts with the shares that the model plans, synced, to check the prediction.
// A rank that a quota can stop is measured by its processor time, at the rate of the quota.
// The start of a job is measured once and kept separate. It also contains the time by which the first sort takes longer
// than later ones (connections, threads, cold caches), because a user's sort is the first of its process.
// Cost: about `seconds`; one file of records in and out on each node.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "comm/communicator.h"
#include "sort/calibrate/bench.h"
#include "sort/calibrate/calibration.h"

namespace hetsort::sort {

struct CalibrationRequest {
  double seconds = 20;  ///< time for the whole calibration
  std::uint64_t record_bytes = 100;
  NodeFacts facts;  ///< facts about this rank
  /// Called with the name of what is measured next.
  std::function<void(const std::string& stage)> on_progress{};
};

/// Measures all nodes. The result is on rank 0; on other ranks it is incomplete. Collective. Throws: what the bench
/// throws; PeerFailed.
Calibration calibrate(Bench& bench, const CalibrationRequest& request, comm::Communicator& ranks);

}  // namespace hetsort::sort
