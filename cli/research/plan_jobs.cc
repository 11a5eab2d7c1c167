// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// `hetsort plan --jobs`: several sorts that share a cluster.
#include "cli/research/plan_jobs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <tuple>

#include "cli/options/command_line.h"
#include "cli/plan/plan_output.h"
#include "cli/report/charts.h"
#include "cli/report/html.h"
#include "cli/terminal/columns.h"
#include "cli/terminal/messages.h"
#include "job/plan/plan_json.h"
#include "job/report/json.h"
#include "job/request/named_files.h"
#include "job/shares/plan_input.h"
#include "partition/critical.h"
#include "partition/error.h"
#include "partition/plan.h"

namespace hetsort::cli {
namespace {

using partition::Problem;
using research::NodeSet;
using research::SortJob;

constexpr double kWorthwhileSpeedup = 1.2;  // speedup of twice as many nodes, as in the thesis

/// The sorts on the nodes of a cluster. Keeps what it has predicted.
class SortsOnCluster {
 public:
  explicit SortsOnCluster(const JobsRequest& request) : request_(request) {}

  NodeSet nodes_of(std::size_t job, std::span<const std::size_t> free) {
    const std::size_t all = request_.cluster.nodes.size();
    switch (request_.policy) {
      case QueuePolicy::kAll:
        return free.size() == all ? NodeSet(free.begin(), free.end()) : NodeSet();
      case QueuePolicy::kCritical:
        return critical_set(job, free);
      case QueuePolicy::kSpeedup:
        break;
    }
    const std::size_t count = nodes_by_speedup(job);
    return free.size() < count ? NodeSet() : first_of(fastest_first(free), count);
  }

  double seconds_of(std::size_t job, std::span<const std::size_t> nodes) {
    const SortJob& sort = request_.jobs[job];
    const auto key = std::tuple(sort.records, sort.record_bytes, NodeSet(nodes.begin(), nodes.end()));
    const auto known = seconds_.find(key);
    if (known != seconds_.end()) return known->second;
    const Problem problem = problem_of(job, nodes, false);
    if (!problem.run)
      throw partition::PlanError(fmt::format("--jobs needs a cluster file that describes whole runs: {}",
                                             problem.run_missing.empty() ? "no costs" : problem.run_missing));
    const double seconds = partition::make_plan(problem, "phases").run->seconds;
    seconds_.emplace(key, seconds);
    return seconds;
  }

 private:
  Problem problem_of(std::size_t job, std::span<const std::size_t> nodes, bool memory_caps) const {
    const SortJob& sort = request_.jobs[job];
    const partition::ClusterUse use{.record_bytes = sort.record_bytes,
                                    .memory_caps = memory_caps,
                                    .synced = request_.synced,
                                    .records_in_memory = job::records_in_memory(sort.record_bytes)};
    const partition::Cluster cluster = partition::select_nodes(request_.cluster, nodes);
    Problem problem = partition::problem_from_cluster(cluster, sort.records, use);
    if (!memory_caps) partition::add_run_model(problem, cluster, use);
    return problem;
  }

  /// The smallest set of these nodes that keeps the records in memory. All nodes if even these do not.
  NodeSet critical_set(std::size_t job, std::span<const std::size_t> free) const {
    const std::size_t all = request_.cluster.nodes.size();
    if (free.empty()) return {};
    std::vector<std::int64_t> capacities;
    capacities.reserve(free.size());
    const std::int64_t records = request_.jobs[job].records;
    std::int64_t room = records;
    for (const partition::ProblemNode& node : problem_of(job, free, true).nodes) {
      capacities.push_back(std::min(node.max_records, records));
      room -= std::min(room, capacities.back());
    }
    if (room > 0) return free.size() == all ? NodeSet(free.begin(), free.end()) : NodeSet();
    NodeSet nodes;
    for (const std::size_t place : partition::critical_nodes(capacities, records)) nodes.push_back(free[place]);
    return nodes;
  }

  /// Returns the nodes by the seconds that they need to form a run of a million records.
  NodeSet fastest_first(std::span<const std::size_t> nodes) const {
    NodeSet order(nodes.begin(), nodes.end());
    std::ranges::stable_sort(order, {}, [&](std::size_t node) {
      const partition::ClusterNode& one = request_.cluster.nodes[node];
      return one.compute ? one.compute->value(1e6) : 0.0;
    });
    return order;
  }

  static NodeSet first_of(const NodeSet& order, std::size_t count) {
    NodeSet nodes(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count));
    std::ranges::sort(nodes);
    return nodes;
  }

  std::size_t nodes_by_speedup(std::size_t job) {
    NodeSet all(request_.cluster.nodes.size());
    for (std::size_t node = 0; node < all.size(); ++node) all[node] = node;
    const NodeSet order = fastest_first(all);
    std::size_t count = 1;
    while (2 * count <= all.size() &&
           seconds_of(job, first_of(order, count)) >= kWorthwhileSpeedup * seconds_of(job, first_of(order, 2 * count)))
      count *= 2;
    return count;
  }

  const JobsRequest& request_;
  std::map<std::tuple<std::int64_t, std::int64_t, NodeSet>, double> seconds_;
};

std::vector<double> arrivals_of(const JobsRequest& request) {
  std::vector<double> arrivals;
  arrivals.reserve(request.jobs.size());
  for (const SortJob& job : request.jobs) arrivals.push_back(job.arrival_seconds);
  return arrivals;
}

std::vector<std::string> names_of(const JobsRequest& request, const NodeSet& nodes) {
  std::vector<std::string> names;
  names.reserve(nodes.size());
  for (const std::size_t node : nodes) names.push_back(request.cluster.nodes[node].name);
  return names;
}

/// Names, numbered where several nodes have the same.
std::vector<std::string> labels_of(const JobsRequest& request, const NodeSet& nodes) {
  std::vector<std::string> labels;
  labels.reserve(nodes.size());
  for (const std::size_t node : nodes)
    labels.push_back(job::node_label(request.cluster.nodes[node].name, request.cluster.nodes[node].number));
  return labels;
}

double last_finish(const std::vector<research::ScheduledJob>& jobs) {
  double last = 0;
  for (const research::ScheduledJob& job : jobs) last = std::max(last, job.finish);
  return last;
}

}  // namespace

JobsRequest jobs_request_of(const PlanCommand& command, const job::Options& options) {
  static constexpr std::array kKnown{"jobs", "cluster", "policy", "format", "emit-hostfile", "plot", "no-sync"};
  for (const job::Option& option : options.all())
    if (options.is_given(option.id()) && std::ranges::find(kKnown, option.id()) == kKnown.end())
      throw UsageError(fmt::format("{} plans one sort; leave it out with --jobs", job::word_for(option)));
  if (command.form == PlanForm::kCsv)
    throw UsageError("--format csv is for plans of one sort: --jobs has table and json");
  const std::string& cluster_path = command.request.shares.cluster_path;
  if (cluster_path.empty()) throw UsageError("--jobs needs --cluster, the nodes that the sorts share");
  job::NamedFiles files;
  files.write("standard output", "-");
  files.write("--plot", command.plot_path);
  files.read("--cluster", cluster_path);
  files.read("--jobs", command.jobs_path);
  files.check(comm::Communicator());
  JobsRequest request;
  request.jobs = research::parse_jobs(job::read_text_file(command.jobs_path), command.jobs_path);
  request.cluster = partition::parse_cluster(job::read_text_file(cluster_path), cluster_path);
  request.policy = command.policy;
  request.synced = command.request.sync;
  return request;
}

std::vector<research::ScheduledJob> schedule_sorts(const JobsRequest& request) {
  SortsOnCluster sorts(request);
  const research::QueueRules rules{
      .nodes_of = [&](std::size_t job, std::span<const std::size_t> free) { return sorts.nodes_of(job, free); },
      .seconds_of = [&](std::size_t job, std::span<const std::size_t> nodes) { return sorts.seconds_of(job, nodes); }};
  return research::schedule_jobs(arrivals_of(request), request.cluster.nodes.size(), rules);
}

std::string jobs_table(const JobsRequest& request, const std::vector<research::ScheduledJob>& schedule) {
  const std::vector<double> arrivals = arrivals_of(request);
  std::string text = fmt::format("mean turnaround  {:.3f} s\nlast finish      {:.3f} s\n\n",
                                 research::mean_turnaround(schedule, arrivals), last_finish(schedule));
  text += fmt::format("{:<16} {:>10} {:>10} {:>10} {:>10}  nodes\n", "job", "arrival", "start", "finish", "turnaround");
  for (std::size_t i = 0; i < schedule.size(); ++i)
    text += fmt::format("{:<16} {:>10.3f} {:>10.3f} {:>10.3f} {:>10.3f}  {}\n",
                        shortened(terminal_safe(request.jobs[i].name), 16), arrivals[i], schedule[i].start,
                        schedule[i].finish, schedule[i].finish - arrivals[i],
                        terminal_safe(fmt::format("{}", fmt::join(labels_of(request, schedule[i].nodes), ","))));
  return text;
}

std::string jobs_json(const JobsRequest& request, const std::vector<research::ScheduledJob>& schedule) {
  const std::vector<double> arrivals = arrivals_of(request);
  nlohmann::ordered_json json{{"schema", "hetsort.queue/1"},
                              {"mean_turnaround", research::mean_turnaround(schedule, arrivals)},
                              {"last_finish", last_finish(schedule)}};
  nlohmann::ordered_json& jobs = json["jobs"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < schedule.size(); ++i)
    jobs.push_back({{"name", request.jobs[i].name},
                    {"records", request.jobs[i].records},
                    {"arrival", arrivals[i]},
                    {"start", schedule[i].start},
                    {"finish", schedule[i].finish},
                    {"nodes", names_of(request, schedule[i].nodes)},
                    {"labels", labels_of(request, schedule[i].nodes)}});
  return job::json_text(json) + "\n";
}

std::string jobs_hostfiles(const JobsRequest& request, const std::vector<research::ScheduledJob>& schedule) {
  std::string text;
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    text += fmt::format("# {}\n", request.jobs[i].name);
    for (const std::string& name : names_of(request, schedule[i].nodes)) {
      if (name.find_first_not_of("0123456789") == std::string::npos || !can_be_host(name))
        throw UsageError(fmt::format("--emit-hostfile: '{}' cannot be a host name", name));
      text += fmt::format("{} slots=1\n", name);
    }
  }
  return text;
}

std::string jobs_picture(const JobsRequest& request, const std::vector<research::ScheduledJob>& schedule) {
  NodeSet nodes(request.cluster.nodes.size());
  std::iota(nodes.begin(), nodes.end(), std::size_t{0});
  Chart chart{.title = "The sorts on each node",
              .rows = labels_of(request, nodes),
              .bars = {},
              .axis = "seconds",
              .end = std::max(last_finish(schedule), kMinAxisSeconds) * kHeadroom};
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    const std::string& name = request.jobs[i].name;
    for (const std::size_t node : schedule[i].nodes)
      chart.bars.push_back({.row = node,
                            .left = schedule[i].start,
                            .right = schedule[i].finish,
                            .css_class = fmt::format("phase{}", i % kPhaseColours),
                            .tip = fmt::format("{}: {} to {} s", name, seconds_text(schedule[i].start),
                                               seconds_text(schedule[i].finish)),
                            .text = name});
  }
  const double turnaround = research::mean_turnaround(schedule, arrivals_of(request));
  std::string svg = draw_alone(fmt::format("{} sorts, mean turnaround {} s", schedule.size(), seconds_text(turnaround)),
                               std::array{chart});
  if (svg.empty()) throw UsageError(fmt::format("--plot draws up to {} nodes and {} bars", kMaxRows, kMaxBars));
  return svg;
}

}  // namespace hetsort::cli
