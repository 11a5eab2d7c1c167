// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// One sort of a job, with all it leaves: its report and its trace.
#pragma once

#include <string>
#include <vector>

#include "job/report/run_report.h"
#include "job/sort_job.h"
#include "sort/model/measured_shares.h"

namespace hetsort::job {

/// What is recorded of a sort.
struct SortLog {
  std::vector<std::string> command_line{};   ///< words that the report shows
  sort::Monitor::Clock::time_point start{};  ///< times count from here; the same moment on all ranks
  bool traced = false;                       ///< also what each thread did
};

class LoggedSort {
 public:
  /// Requires: `job` is resolved before run() and outlives this.
  LoggedSort(const SortJob& job, comm::Communicator& ranks, SortLog log);

  /// Sorts, and gathers the reports of all ranks on rank 0. Collective. Throws: as sort_records().
  void run();

  /// The report, without its context; the report and the trace as JSON. Requires: rank 0.
  RunReport described() const { return run_report(summary_, reports_); }
  std::string report() const { return report_json(summary_, reports_); }
  std::string trace() const { return trace_json(traces_); }
  /// Ends the record after a failure: report and trace then have what rank 0 knows, and the failure.
  void end_with(const std::string& failure);

  const sort::RankResult& result() const { return result_; }
  /// The work that was measured on each rank. Requires: rank 0.
  const std::vector<sort::Work>& work() const { return work_; }
  /// Notes go there too.
  const sort::Monitor& monitor() const { return monitor_; }
  sort::Monitor& monitor() { return monitor_; }

 private:
  const SortJob& job_;
  comm::Communicator& ranks_;
  bool traced_;
  sort::Monitor monitor_;
  sort::RankResult result_;
  RunSummary summary_;
  std::vector<sort::Work> work_;
  std::vector<std::string> reports_;
  std::vector<std::string> traces_;
};

/// Makes rank 0's monitor count the work of all ranks from now on. Both must live until the job ends.
void count_all_ranks(sort::Monitor& monitor, comm::Communicator& ranks);

}  // namespace hetsort::job
