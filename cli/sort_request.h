// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The command line of `hetsort sort`, understood.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/commands.h"
#include "cli/job.h"
#include "cli/progress.h"
#include "cli/share_request.h"
#include "sort/sort.h"

namespace hetsort::cli {

struct SortRequest {
  bool help = false;
  sort::SortOptions options;
  JobRequest job;
  ShareRequest shares;
  RankPlanner planner;               ///< of the job's ranks, once settled
  std::optional<CurveTable> curves;  ///< what earlier runs learned, with --learn, once settled
  bool memory_given = false;
  bool threads_given = false;
  std::string report_path;  ///< empty = none
  std::string trace_path;   ///< empty = none
  ProgressStyle progress = ProgressStyle::kAuto;
  bool dry_run = false;
  bool explain = false;
  bool verbose = false;
  bool quiet = false;
};

/// Throws: UsageError, also for options that the design has and this version has not.
SortRequest parse_sort_request(Arguments arguments);
/// Settles what depends on the job: ranks of one host share its memory and processors unless -S and -j were given, and
/// how records are shared; reads what was learned. Collective. Throws: UsageError, partition::PlanError, PeerFailed.
void settle_for_job(SortRequest& request, sort::Communicator& ranks);
std::string sort_help();

/// Whether some INPUT is standard input.
bool reads_standard_input(const sort::SortOptions& options);

/// Bytes of "64K", "4G", "4GiB" (powers of 1024), "4GB" (of 1000), "512" (KiB, as in GNU sort), "1000b" (bytes) or
/// "50%" of `whole_bytes`. Throws: UsageError naming the option -S.
std::uint64_t parse_memory(const std::string& text, std::uint64_t whole_bytes);

}  // namespace hetsort::cli
