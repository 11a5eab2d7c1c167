// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The real measurements of a calibration: sorts by the sort itself, of generated records in files, as a user's would
// be.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/temp/temp_file.h"
#include "sort/calibrate/calibrate.h"
#include "sort/sort.h"

namespace hetsort::cli {

class CalibrationBench final : public sort::Bench {
 public:
  /// `options`: memory, threads and temp directories; files lie in the first of these. Collective.
  CalibrationBench(const sort::SortOptions& options, comm::Communicator& ranks);

  double now_seconds() override;
  double job_start_seconds() override;
  sort::DiskRates measure_disk(double seconds) override;
  std::vector<double> transfer(const std::vector<sort::Flow>& flows) override;
  sort::SortTimes sort_alone(std::uint64_t records) override;
  sort::SortTimes sort_together(const std::vector<std::uint64_t>& input, const std::vector<std::uint64_t>& output,
                                bool synced) override;

 private:
  /// Makes an input of so many records, and no output. Collective, so that all begin together.
  void prepare_input(std::uint64_t records);
  /// Adds records to the input until it has so many. Those of the usual layout are benchmark records; others are random
  /// bytes.
  void add_records(std::uint64_t records);
  /// Path prefix; the rank number is appended.
  std::string name_of(const char* role) const;
  /// The path of a file as a sort of `ranks` ranks expects it.
  std::string path_for(const io::TempFile& file, const char* role, int ranks) const;
  /// Runs one sort and returns its times. The whole is the time from the call to the published output.
  sort::SortTimes time_sort(const sort::PlanShares& shares, comm::Communicator& ranks, bool synced);

  sort::SortOptions options_;
  comm::Communicator& ranks_;
  int tag_;  // first tag of transfers
  std::optional<io::TempFile> input_;
  std::optional<io::TempFile> output_;
  std::uint64_t input_records_ = 0;
};

}  // namespace hetsort::cli
