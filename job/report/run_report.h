// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The machine-readable results of a sort: the report (hetsort.run/1) and the trace (Chrome trace
// events).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "io/publish.h"
#include "job/report/model.h"
#include "sort/machine/energy.h"
#include "sort/model/monitor.h"
#include "sort/sort.h"

namespace hetsort::job {

/// What the process used before a sort. It is subtracted from the totals if the sort is not the process's first.
struct Spent {
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t bytes_shared = 0;
  double communication_cpu_seconds = 0;
  sort::EnergyMeter energy{};  ///< counts from here on
};
Spent spent_so_far(const comm::Communicator& ranks);

struct RunSummary {
  const sort::SortOptions& options;
  const sort::RankResult& result;
  const sort::Monitor& monitor;
  const comm::Communicator& ranks;
  std::vector<std::string> command_line;
  Spent before{};       ///< usage before the sort, which is not part of it
  std::string error{};  ///< error that ended the sort; empty = it succeeded
};

/// The report and the trace of this rank, as JSON text.
std::string rank_report(const RunSummary& summary);
std::string rank_trace(const RunSummary& summary);

/// The report of the whole sort, with those of the `ranks`, without its context; for a sort that failed, what rank 0
/// knows.
RunReport run_report(const RunSummary& summary, const std::vector<std::string>& ranks);
/// One JSON object on one line: run_report() with its context.
std::string report_json(const RunSummary& summary, const std::vector<std::string>& ranks);
std::string trace_json(const std::vector<std::string>& ranks);

/// The time as in "2006-01-31T23:59:59Z".
std::string utc_now();

/// Writes `text` to an output that was opened before the work, and publishes it. Throws: io::Error.
void write_text(io::OutputFile& output, const std::string& text);

}  // namespace hetsort::job
