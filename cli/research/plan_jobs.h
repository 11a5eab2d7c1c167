// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What `hetsort plan --jobs` asks for and prints.
#pragma once

#include <string>
#include <vector>

#include "bench/research/queue/jobs_text.h"
#include "bench/research/queue/sort_queue.h"
#include "cli/plan/plan_request.h"
#include "partition/cluster.h"

namespace hetsort::cli {

struct JobsRequest {
  std::vector<research::SortJob> jobs;
  partition::Cluster cluster;
  QueuePolicy policy = QueuePolicy::kCritical;
  bool synced = true;  ///< the sorts wait until their outputs are on the disk
};

/// The request of a command line, whose options `options` are. Requires: --jobs is given. Throws: UsageError,
/// partition::PlanError, and io::Error for files.
JobsRequest jobs_request_of(const PlanCommand& command, const job::Options& options);

/// Schedules the sorts. Throws: partition::PlanError for a cluster file that does not describe whole runs.
std::vector<research::ScheduledJob> schedule_sorts(const JobsRequest& request);

std::string jobs_table(const JobsRequest& request, const std::vector<research::ScheduledJob>& schedule);
/// The schedule as JSON, "hetsort.queue/1", on one line.
std::string jobs_json(const JobsRequest& request, const std::vector<research::ScheduledJob>& schedule);
/// An Open MPI hostfile for each job, below a comment with its name.
std::string jobs_hostfiles(const JobsRequest& request, const std::vector<research::ScheduledJob>& schedule);
/// Nodes over time, as SVG. Throws: UsageError for too many nodes or sorts.
std::string jobs_picture(const JobsRequest& request, const std::vector<research::ScheduledJob>& schedule);

}  // namespace hetsort::cli
