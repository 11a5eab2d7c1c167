// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What `hetsort plan --jobs` asks for and prints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/plan/plan_request.h"
#include "partition/cluster.h"
#include "partition/queue/jobs_text.h"
#include "partition/queue/sort_queue.h"

namespace hetsort::cli {

struct JobsRequest {
  std::vector<partition::SortJob> jobs;
  partition::Cluster cluster;
  QueuePolicy policy = QueuePolicy::kCritical;
  bool synced = true;  ///< the sorts wait until their outputs are on the disk
};

/// The request of a command line, whose options `options` are. Requires: --jobs is given. Throws: UsageError,
/// partition::PlanError, and io::Error for files.
JobsRequest jobs_request_of(const PlanCommand& command, const job::Options& options);

/// Schedules the sorts. Throws: partition::PlanError for a cluster file that does not describe whole runs.
std::vector<partition::ScheduledJob> schedule_sorts(const JobsRequest& request);

std::string jobs_table(const JobsRequest& request, const std::vector<partition::ScheduledJob>& schedule);
/// The schedule as JSON, "hetsort.queue/1", on one line.
std::string jobs_json(const JobsRequest& request, const std::vector<partition::ScheduledJob>& schedule);
/// Whether a hostfile can hold the name.
bool can_be_host(std::string_view name);
/// An Open MPI hostfile for each job, below a comment with its name.
std::string jobs_hostfiles(const JobsRequest& request, const std::vector<partition::ScheduledJob>& schedule);
/// Nodes over time, as SVG drawn by gnuplot.
std::string jobs_picture(const JobsRequest& request, const std::vector<partition::ScheduledJob>& schedule);

}  // namespace hetsort::cli
