// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The result of a calibration.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "partition/run/run_model.h"
#include "sort/calibrate/bench.h"

namespace hetsort::sort {

/// The facts about a rank that need no measurement.
struct NodeFacts {
  std::string host;
  std::uint64_t memory_bytes = 0;
  std::uint64_t threads = 1;
  std::uint64_t max_records = 1;  ///< largest sort that fits this rank's memory and disk
};

/// The time of forming runs of so many records.
struct FormPoint {
  std::uint64_t records = 0;
  double seconds = 0;
};

/// Measurements of one rank's node. Rates are in bytes per second; 0 = there is no link.
struct NodeMeasurements {
  NodeFacts facts;
  DiskRates disk;
  std::vector<FormPoint> form;          ///< ascending records, seconds that never fall
  double merge_seconds = 0;             ///< time for each record
  partition::MessageSeconds message{};  ///< 0 on all nodes = none was found
  double link_in = 0;                   ///< rates of the host's link
  double link_out = 0;
  std::vector<double> links;  ///< rates to each rank
};

/// A whole sort of all nodes, compared with the model.
struct SortCheck {
  std::string shares;  ///< how the records were shared
  std::uint64_t records = 0;
  double predicted_form = 0;
  double predicted_exchange = 0;
  double predicted = 0;  ///< the whole sort
  SortTimes measured;    ///< times of the latest rank; publish is the time of the rank that waits the least
};

struct Calibration {
  double start_seconds = 0;  ///< time before a job's first sort, plus the extra time of that sort
  double select_seconds = 0;
  double publish_seconds = 0;
  double shared_link = 0;  ///< rate of all hosts together; 0 = they do not share a link
  std::vector<NodeMeasurements> nodes;
  std::vector<Flow> too_fast;  ///< transfers that ended too early: their links have at least these rates
  std::vector<SortCheck> checks;
};

}  // namespace hetsort::sort
