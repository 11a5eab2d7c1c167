// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What a run of `hetsort sort` leaves for machines: the report (hetsort.run/1) and the trace (Chrome trace events).
#pragma once

#include <string>
#include <vector>

#include "sort/comm/communicator.h"
#include "sort/monitor.h"
#include "sort/sort.h"

namespace hetsort::cli {

struct RunSummary {
  const sort::SortOptions& options;
  const sort::RankResult& result;
  const sort::Monitor& monitor;
  const sort::Communicator& ranks;
  std::vector<std::string> command_line;
  std::string error;  ///< what ended the run; empty = it succeeded
};

/// One JSON object on one line.
std::string report_json(const RunSummary& summary);
std::string trace_json(const RunSummary& summary);

/// Writes `text` to `path`, complete or not at all. Throws: io::Error.
void write_text(const std::string& path, const std::string& text);

}  // namespace hetsort::cli
