// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What the model of a whole run (predict_run.h) knows of each rank: measured resource by resource.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../cost/cost_function.h"

namespace hetsort::partition {

/// Bytes per second. A rate that is missing is unlimited: it never bounds a rank.
struct DiskAndLinkRates {
  std::optional<double> link_in;
  std::optional<double> link_out;
  std::optional<double> disk_read;
  std::optional<double> disk_write;
};

/// Processor seconds for each byte that a rank receives or sends.
struct MessageSeconds {
  double in = 0;
  double out = 0;
};

struct RankResources {
  std::string name;
  std::size_t host = 0;      ///< ranks with the same number share link and disk
  CostPtr sort;              ///< processor seconds to form runs of n records
  double merge_seconds = 0;  ///< processor time for each record that the rank ends with
  MessageSeconds message{};
  DiskAndLinkRates rates;                      ///< rates of the host: the same for all its ranks
  std::optional<std::int64_t> memory_records;  ///< more spill to the disk; missing = all records fit
  std::optional<std::int64_t> max_records;     ///< the rank can neither read nor end with more
  bool writes_directly = false;  ///< a run waits for its disk even if it is not synced: no page cache takes the output
  double input_cached = 0;       ///< part of the rank's input, 0 to 1, in the page cache: the disk does not read it
};

/// Limits of all hosts together.
struct SharedRates {
  std::optional<double> link;
  std::optional<double> disk_read;
  std::optional<double> disk_write;
};

struct RunModel {
  std::int64_t record_bytes = 100;
  double start_seconds = 0;
  double select_seconds = 0;
  double publish_seconds = 0;
  bool synced = true;  ///< the run waits until its output is on the disk
  SharedRates shared;
  std::vector<RankResources> ranks;
};

/// Checks a model. Throws: NodeError that names the rank and the field, or PlanError: no rank, no sort cost or one that
/// decreases, a rate that is not finite and above zero, a processor cost or a time that is negative or not finite, a
/// negative number of records, a cached part that is not from 0 to 1, a field that only some ranks have, or ranks of
/// one host whose rates differ.
void validate(const RunModel& model);

}  // namespace hetsort::partition
