// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The result of a calibration.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sort/calibrate/bench.h"

namespace hetsort::sort {

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
  double predicted = 0;  ///< the whole; select and publish are as measured
  SortTimes measured;    ///< of the latest rank; publish is that of the rank which waits the least
};

struct Calibration {
  double start_seconds = 0;  ///< before a job's first sort, plus the extra time of that sort
  double select_seconds = 0;
  double publish_seconds = 0;
  double shared_link = 0;  ///< of all hosts together; 0 = they do not share one
  std::vector<NodeMeasurements> nodes;
  std::vector<Flow> too_fast;  ///< transfers that ended too early: the rates of their links are at least these
  std::optional<SortCheck> check;
};

}  // namespace hetsort::sort
