// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Schedules computed by hand. A job has a number of nodes and of seconds; it takes the first free nodes.
#include "bench/research/queue/sort_queue.h"

#include <gtest/gtest.h>

#include "partition/error.h"

namespace hetsort::research::test {
namespace {

struct Job {
  double arrival;
  std::size_t nodes;
  double seconds;
};

std::vector<ScheduledJob> scheduled(const std::vector<Job>& jobs, std::size_t nodes) {
  std::vector<double> arrivals;
  for (const Job& job : jobs) arrivals.push_back(job.arrival);
  const QueueRules rules{
      .nodes_of =
          [&](std::size_t job, std::span<const std::size_t> free) {
            if (free.size() < jobs[job].nodes) return NodeSet();
            return NodeSet(free.begin(), free.begin() + static_cast<std::ptrdiff_t>(jobs[job].nodes));
          },
      .seconds_of = [&](std::size_t job, std::span<const std::size_t>) { return jobs[job].seconds; }};
  return schedule_jobs(arrivals, nodes, rules);
}

void expect_starts(const std::vector<ScheduledJob>& jobs, const std::vector<double>& starts) {
  for (std::size_t i = 0; i < starts.size(); ++i) EXPECT_DOUBLE_EQ(jobs[i].start, starts[i]) << "job " << i;
}

TEST(SortQueue, jobs_that_fit_run_side_by_side) {
  const auto jobs = scheduled({{0, 2, 10}, {0, 2, 6}, {0, 2, 4}, {0, 4, 1}}, 4);
  expect_starts(jobs, {0, 0, 6, 10});
  EXPECT_EQ(jobs[1].nodes, (NodeSet{2, 3}));
  EXPECT_EQ(jobs[2].nodes, (NodeSet{2, 3}));
  EXPECT_DOUBLE_EQ(mean_turnaround(jobs, std::vector<double>(4, 0.0)), (10 + 6 + 10 + 11) / 4.0);
}

TEST(SortQueue, a_short_job_goes_ahead_if_the_first_that_waits_is_not_delayed) {
  expect_starts(scheduled({{0, 3, 10}, {1, 4, 5}, {2, 1, 8}}, 4), {0, 10, 2});
  expect_starts(scheduled({{0, 3, 10}, {1, 4, 5}, {2, 1, 9}}, 4), {0, 10, 15});  // it would end at 11
}

TEST(SortQueue, a_long_job_goes_ahead_on_nodes_that_are_not_reserved) {
  expect_starts(scheduled({{0, 3, 10}, {1, 2, 5}, {2, 1, 100}}, 5), {0, 1, 6});
  expect_starts(scheduled({{0, 3, 10}, {1, 3, 5}, {2, 1, 100}}, 5), {0, 10, 2});  // 0 to 2 are reserved
}

TEST(SortQueue, jobs_start_in_the_order_of_their_arrival) {
  expect_starts(scheduled({{5, 1, 1}, {3, 1, 10}, {0, 1, 4}}, 1), {14, 4, 0});
}

TEST(SortQueue, a_job_for_which_all_nodes_do_not_suffice_is_refused) {
  EXPECT_THROW(scheduled({{0, 1, 1}, {0, 3, 1}}, 2), partition::PlanError);
  EXPECT_TRUE(scheduled({}, 2).empty());
}

}  // namespace
}  // namespace hetsort::research::test
