// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What one rank did in a sort.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sort/model/measured_shares.h"
#include "sort/model/record_order.h"
#include "sort/model/shares.h"

namespace hetsort::sort {

/// Filled in phase by phase, so that it holds what is known when a sort fails.
struct RankResult {
  MultisetDigest input;         ///< records that this rank read
  MultisetDigest output;        ///< records that this rank wrote
  MultisetDigest all;           ///< records that all ranks wrote, once they are proven to be the input
  std::uint64_t all_bytes = 0;  ///< bytes of these records
  // Shares of lines are planned in bytes; these are the numbers of lines in them, once they are known.
  std::uint64_t planned_input_records = 0;
  std::uint64_t planned_output_records = 0;
  Work work;             ///< measured in phase form_runs
  MeasuredJob measured;  ///< what was measured of all ranks besides; without rates if nothing was
  std::vector<partition::PhaseTime> measured_exchange;  ///< each rank's, predicted for measured shares; empty without
  /// One sentence about the plan of a whole run, on the rank that planned; empty if only speeds or nothing was known.
  std::string explanation;
  std::string strategy = "equal";
  double predicted_seconds = 0;                        ///< 0 = no time was predicted
  std::optional<partition::PhaseTime> predicted_form;  ///< prediction for this rank, if a whole job can be predicted
  std::optional<partition::PhaseTime> predicted_exchange;  ///< likewise
  /// Part of this rank's input, 0 to 1, in the page cache when shares were planned, if a whole job can be predicted.
  std::optional<double> input_cached;
  std::string checksum;  ///< empty unless asked for
  std::uint64_t runs = 0;
  std::uint64_t runs_in_memory = 0;
  std::uint64_t bytes_spilled = 0;
  std::size_t threads = 1;
  bool in_memory = false;            ///< all runs of this rank are in memory
  bool all_in_memory = false;        ///< all runs of all ranks are in memory
  std::uint64_t verified_bytes = 0;  ///< bytes of the output that were read back from the disk
  double verify_seconds = 0;
  /// Records in the output, where only the first of equal ones is written; known to rank 0, which writes them.
  std::optional<std::uint64_t> unique_records;
  /// Ranges of another rank's share that this rank merged and wrote.
  struct TakenRanges {
    std::size_t from = 0;
    std::uint64_t ranges = 0;
    std::uint64_t bytes = 0;
  };
  std::vector<TakenRanges> taken;  ///< one for each rank that gave some away
  /// Runs of another rank, which had become too slow to send them, that this rank formed again.
  struct CopiedRuns {
    std::size_t from = 0;
    std::uint64_t records = 0;
  };
  std::vector<CopiedRuns> copied;
  /// A file of the output and the bytes of its records.
  struct WrittenFile {
    std::string path;
    std::uint64_t bytes = 0;
  };
  std::vector<WrittenFile> outputs;  ///< files of this rank, in order; empty unless it has several
  bool output_untouched = true;      ///< a file at the output's path is still as it was before the sort
};

}  // namespace hetsort::sort
