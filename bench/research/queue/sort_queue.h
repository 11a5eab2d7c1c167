// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A queue of jobs that run side by side on nodes of their own: first come, first served, with EASY backfill.
//
// The first job that waits gets a reservation: the earliest time at which enough nodes are free, and these nodes. A
// later job starts before it only if it ends by then, or if it uses none of these nodes. Jobs run to their ends: a sort
// keeps its memory full of records, and another one on the same node in turns would push them to the disk, which costs
// more than waiting does.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace hetsort::research {

using NodeSet = std::vector<std::size_t>;  // places of nodes, ascending

/// How jobs use nodes. `job` is its place in the list.
struct QueueRules {
  /// The nodes that a job takes of those that are free; none if they do not suffice.
  std::function<NodeSet(std::size_t job, std::span<const std::size_t> free)> nodes_of;
  std::function<double(std::size_t job, std::span<const std::size_t> nodes)> seconds_of;
};

struct ScheduledJob {
  double start = 0;
  double finish = 0;
  NodeSet nodes;
};

/// When and where each job runs. `arrivals`: seconds, in any order. Of jobs that arrive at the same time, the one that
/// is listed first goes first.
/// Throws: PlanError naming the place of a job for which all nodes do not suffice.
/// Complexity: O(jobs^2) calls of the rules.
std::vector<ScheduledJob> schedule_jobs(std::span<const double> arrivals, std::size_t nodes, const QueueRules& rules);

/// The mean of finish - arrival; 0 without jobs.
double mean_turnaround(std::span<const ScheduledJob> jobs, std::span<const double> arrivals);

}  // namespace hetsort::research
