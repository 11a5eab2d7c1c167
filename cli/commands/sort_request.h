// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The command line of `hetsort sort`, understood.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/commands.h"
#include "cli/shared/job.h"
#include "cli/shared/progress.h"
#include "cli/shared/resources.h"
#include "cli/shared/share_request.h"
#include "sort/sort.h"

namespace hetsort::cli {

struct SortRequest {
  bool help = false;
  sort::SortOptions options;
  JobRequest job;
  ShareRequest shares;
  RankPlanner planner;               ///< of the job's ranks, once settled
  std::optional<CurveTable> curves;  ///< what earlier runs learned, with --learn, once settled
  ResourceRequest resources;
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
void settle_for_job(SortRequest& request, comm::Communicator& ranks);
std::string sort_help();

/// Whether some INPUT is standard input.
bool reads_standard_input(const sort::SortOptions& options);

}  // namespace hetsort::cli
