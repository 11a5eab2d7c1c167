// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A sort as a rank does it. In: a request. Out: the options of sort/sort.h, and what is known of the ranks' shares.
#pragma once

#include <optional>
#include <string>

#include "job/request/named_files.h"
#include "job/request/request.h"
#include "job/shares/curve_table.h"
#include "job/shares/rank_planner.h"
#include "sort/sort.h"

namespace hetsort::job {

struct SortJob {
  sort::SortOptions options;
  RankPlanner planner;                 ///< planner of the job's ranks, once resolved
  std::optional<CurveTable> curves{};  ///< curves that earlier runs learned, if asked for, once resolved
  std::string learned_cluster{};       ///< cluster file to which this run adds, if asked for, once resolved; or empty
  std::string resources_note{};        ///< what the user should know of the resources, once resolved; or empty
};

/// All that does not depend on the ranks. Reads the names of inputs from a file.
/// Throws: RequestError for what no sort can do; io::Error.
SortJob sort_job_of(const SortRequest& request);

/// What the job reads and writes.
NamedFiles files_of(const SortRequest& request, const SortJob& job);

/// Resolves what depends on the ranks: memory, threads and folders, and how the records are shared, which may read
/// learned curves and a cluster file. Collective. Throws: RequestError, partition::PlanError, io::Error, PeerFailed.
void resolve(SortJob& job, const SortRequest& request, comm::Communicator& ranks);

/// Whether some input is standard input.
bool reads_standard_input(const sort::SortOptions& options);

}  // namespace hetsort::job
