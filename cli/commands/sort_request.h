// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What the command lines of `hetsort sort` and `hetsort compare` ask for.
#pragma once

#include <boost/program_options.hpp>
#include <optional>
#include <string>

#include "cli/options/share_request.h"
#include "cli/shared/job.h"
#include "cli/shared/named_files.h"
#include "cli/shared/progress.h"
#include "cli/shared/resources.h"
#include "sort/sort.h"

namespace hetsort::cli {

/// -c and -C: whether the order of the input is checked instead of sorting it.
enum class OrderCheck : std::uint8_t { kNone, kReport, kQuiet };

struct SortRequest {
  sort::SortOptions options;
  JobRequest job;
  ShareRequest shares;
  RankPlanner planner;               ///< planner of the job's ranks, once resolved
  std::optional<CurveTable> curves;  ///< curves that earlier runs learned, with --learn, once resolved
  ResourceRequest resources;
  std::string report_path;  ///< empty = none
  std::string trace_path;   ///< empty = none
  ProgressStyle progress = ProgressStyle::kAuto;
  OrderCheck check = OrderCheck::kNone;
  bool dry_run = false;
  bool explain = false;
  bool verbose = false;
  bool quiet = false;
};

/// The options that `sort` and `compare` have in common.
void add_sort_options(boost::program_options::options_description& options);
/// The request of a command line. Throws: UsageError, sort::RequestError.
SortRequest sort_request_of(const boost::program_options::variables_map& values);
/// The options of one sort: those above, --strategy and --merge.
void add_one_sort_options(boost::program_options::options_description& options);
/// The request of a command line with these options. Throws: as sort_request_of().
SortRequest one_sort_request_of(const boost::program_options::variables_map& values);
/// The files that the request reads and writes.
NamedFiles files_of(const SortRequest& request);
/// Resolves what depends on the job. Ranks of one host share its memory and processors unless -S and -j were given.
/// Reads the learned curves and chooses how to share the records.
/// Collective. Throws: UsageError, partition::PlanError, PeerFailed.
void resolve_for_job(SortRequest& request, comm::Communicator& ranks);

/// Whether some INPUT is standard input.
bool reads_standard_input(const sort::SortOptions& options);

}  // namespace hetsort::cli
