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
#include "sort/machine/warm_memory.h"
#include "sort/sort.h"

namespace hetsort::cli {

class CalibrationBench final : public sort::Bench {
 public:
  /// `options`: memory, threads and temp directories; files lie in the first of these. Collective.
  CalibrationBench(const sort::SortOptions& options, comm::Communicator& ranks);

  double now_seconds() override;
  double job_start_seconds() override;
  sort::DiskRates measure_disk(double seconds) override;
  sort::LinkRates measure_link(int peer, double seconds) override;
  sort::TimedSort sort_alone(const std::vector<std::uint64_t>& shares) override;
  sort::TimedSort sort_together(const std::vector<std::uint64_t>& shares) override;

 private:
  /// The input, no output, memory that was in use just before: that is free again when it returns. Collective, so that
  /// all begin together.
  void prepare_input(const std::vector<std::uint64_t>& shares);
  /// Files' names up to the rank.
  std::string name_of(const char* role) const;
  /// As a sort of `ranks` ranks wants it.
  std::string path_for(const io::TempFile& file, const char* role, int ranks) const;
  /// From the call to the published output.
  sort::TimedSort time_sort(const sort::PlanShares& shares, comm::Communicator& ranks);

  sort::SortOptions options_;
  comm::Communicator& ranks_;
  int link_tag_;
  std::optional<io::TempFile> input_;
  std::optional<io::TempFile> output_;
  std::uint64_t input_records_ = 0;
  sort::WarmMemory memory_{sort::reports_free_pages()};
  double seconds_per_record_ = 0;  // of the last sort, by this rank's records; 0 before
};

}  // namespace hetsort::cli
