// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/research/queue/sort_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "partition/error.h"

namespace hetsort::research {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

class JobQueue {
 public:
  JobQueue(std::span<const double> arrivals, std::size_t nodes, const QueueRules& rules)
      : arrivals_(arrivals), rules_(rules), busy_until_(nodes, 0.0), jobs_(arrivals.size()) {
    waiting_.resize(arrivals.size());
    std::iota(waiting_.begin(), waiting_.end(), std::size_t{0});
    std::ranges::stable_sort(waiting_, {}, [&](std::size_t job) { return arrivals[job]; });
  }

  std::vector<ScheduledJob> run() {
    double now = 0;
    while (!waiting_.empty()) {
      now = std::max(now, next_event(now));
      start_all(now);
    }
    return std::move(jobs_);
  }

 private:
  /// The next time at which a node becomes free or a job arrives, not before `now`; after `now` if nothing could start
  /// then.
  double next_event(double now) {
    double next = kNever;
    for (const std::size_t job : waiting_)
      if (arrivals_[job] > now || first_) next = std::min(next, arrivals_[job]);
    for (const double until : busy_until_)
      if (until > now) next = std::min(next, until);
    first_ = false;
    return next;
  }

  NodeSet free_at(double time) const {
    NodeSet free;
    free.reserve(busy_until_.size());
    for (std::size_t node = 0; node < busy_until_.size(); ++node)
      if (busy_until_[node] <= time) free.push_back(node);
    return free;
  }

  void start(std::size_t job, NodeSet nodes, double now) {
    const double finish = now + rules_.seconds_of(job, nodes);
    for (const std::size_t node : nodes) busy_until_[node] = finish;
    jobs_[job] = {now, finish, std::move(nodes)};
  }

  struct Reservation {
    double time = kNever;
    NodeSet nodes;
  };

  Reservation reserve(std::size_t job, double now) const {
    std::vector<double> times(busy_until_);
    std::ranges::sort(times);
    for (const double time : times) {
      NodeSet nodes = rules_.nodes_of(job, free_at(std::max(now, time)));
      if (!nodes.empty()) return {std::max(now, time), std::move(nodes)};
    }
    throw partition::PlanError(fmt::format("job number {}: all nodes together do not suffice", job + 1));
  }

  /// The nodes on which a job may start before the one that has the reservation; none if it may not.
  NodeSet backfill(std::size_t job, const Reservation& reserved, double now) const {
    const NodeSet free = free_at(now);
    NodeSet nodes = rules_.nodes_of(job, free);
    if (!nodes.empty() && now + rules_.seconds_of(job, nodes) <= reserved.time) return nodes;
    NodeSet others;
    others.reserve(free.size());
    std::ranges::set_difference(free, reserved.nodes, std::back_inserter(others));
    return rules_.nodes_of(job, others);
  }

  void start_all(double now) {
    std::vector<std::size_t> left;
    Reservation reserved;
    for (const std::size_t job : waiting_) {
      NodeSet nodes;
      if (arrivals_[job] <= now)
        nodes = left.empty() ? rules_.nodes_of(job, free_at(now)) : backfill(job, reserved, now);
      if (!nodes.empty()) {
        start(job, std::move(nodes), now);
        continue;
      }
      if (left.empty() && arrivals_[job] <= now) reserved = reserve(job, now);
      left.push_back(job);
    }
    waiting_ = std::move(left);
  }

  std::span<const double> arrivals_;
  const QueueRules& rules_;
  std::vector<double> busy_until_;
  std::vector<ScheduledJob> jobs_;
  std::vector<std::size_t> waiting_;
  bool first_ = true;
};

}  // namespace

std::vector<ScheduledJob> schedule_jobs(std::span<const double> arrivals, std::size_t nodes, const QueueRules& rules) {
  return JobQueue(arrivals, nodes, rules).run();
}

double mean_turnaround(std::span<const ScheduledJob> jobs, std::span<const double> arrivals) {
  double sum = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) sum += jobs[i].finish - arrivals[i];
  return jobs.empty() ? 0 : sum / static_cast<double>(jobs.size());
}

}  // namespace hetsort::research
