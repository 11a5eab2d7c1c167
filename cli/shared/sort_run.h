// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// One sort of a job, with all it leaves: progress while it works, then its report and its trace.
#pragma once

#include <string>
#include <vector>

#include "cli/commands/sort_request.h"
#include "cli/shared/run_report.h"
#include "sort/model/measured_shares.h"

namespace hetsort::cli {

class SortRun {
 public:
  /// Times count from `start`, which is the same moment on all ranks. Requires: `request` is resolved before run() and
  /// outlives this.
  SortRun(const SortRequest& request, comm::Communicator& ranks, std::vector<std::string> command_line,
          sort::Monitor::Clock::time_point start);

  /// Sorts, and gathers the reports of all ranks on rank 0. Collective. Throws: as sort_records().
  void run();

  /// The report and the trace as JSON. Requires: rank 0.
  std::string report() const { return report_json(summary_, reports_); }
  std::string trace() const { return trace_json(traces_); }
  /// Ends the run after a failure: report and trace then have what rank 0 knows, and the failure.
  void end_with(const std::string& failure);

  const sort::RankResult& result() const { return result_; }
  /// The work that was measured on each rank. Requires: rank 0.
  const std::vector<sort::Work>& work() const { return work_; }
  /// Prints a note, unless --quiet is given.
  void note(const std::string& text) { monitor_.note(text); }
  const sort::Monitor& monitor() const { return monitor_; }
  sort::Monitor& monitor() { return monitor_; }

 private:
  const SortRequest& request_;
  comm::Communicator& ranks_;
  sort::Monitor monitor_;
  sort::RankResult result_;
  RunSummary summary_;
  std::vector<sort::Work> work_;
  std::vector<std::string> reports_;
  std::vector<std::string> traces_;
};

/// Raises the limit of open files, which usually is 1024: every INPUT stays open.
void allow_many_files();

}  // namespace hetsort::cli
