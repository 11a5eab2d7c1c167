// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "job/learn.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "job/report/model.h"
#include "job/request/request_error.h"
#include "job/shares/match_hosts.h"
#include "job/shares/plan_input.h"
#include "partition/error.h"
#include "partition/learning/learned_cluster.h"

namespace hetsort::job {

namespace {

std::optional<partition::ObservedPhase> observed(const std::optional<PhaseComparison>& phase) {
  constexpr double kMinSeconds = 0.01;  // shorter phases show the time to start threads
  if (!phase || !phase->ratio() || *phase->measured < kMinSeconds) return std::nullopt;
  return partition::ObservedPhase{*phase->ratio(), partition::resource_named(phase->bound)};
}

/// The time that a phase took on the rank that waited the least in it.
std::optional<double> least_seconds(const RunReport& run, std::string_view name) {
  std::optional<double> least;
  for (const RankReport& rank : run.ranks)
    for (const PhaseSpan& phase : rank.phases)
      if (phase.name == name) least = std::min(least.value_or(phase.seconds()), phase.seconds());
  return least;
}

/// The moment at which the last rank began to form runs.
std::optional<double> latest_start(const RunReport& run) {
  std::optional<double> latest;
  for (const RankReport& rank : run.ranks)
    for (const PhaseSpan& phase : rank.phases)
      if (phase.name == "form_runs") latest = std::max(latest.value_or(0), phase.begin);
  return latest;
}

/// The largest measured time of a phase; empty if none was measured.
std::optional<double> latest(const std::optional<PhaseComparison>& one, std::optional<double> others) {
  if (!one || !one->measured) return others;
  return std::max(others.value_or(0), *one->measured);
}

/// What remains of the run beside its start, both phases of the slowest ranks, and publication.
std::optional<double> rest_of(const RunReport& run, double start, double publish) {
  std::optional<double> form;
  std::optional<double> exchange;
  for (const RankReport& rank : run.ranks) {
    form = latest(compare_form(rank), form);
    exchange = latest(compare_exchange(run, rank), exchange);
  }
  if (!form || !exchange) return std::nullopt;
  return std::max(0.0, run.seconds - start - *form - *exchange - publish);
}

/// `nodes`: the node of each rank. Where rank 0 sends the input, its transfer hides how long runs take.
partition::ObservedRun observed_run(const RunReport& run, const std::vector<std::size_t>& nodes, bool synced) {
  const bool scatters = least_seconds(run, "scatter").has_value();
  partition::ObservedRun found;
  for (std::size_t rank = 0; rank < run.ranks.size(); ++rank)
    found.ranks.push_back({.node = nodes.at(rank),
                           .form = scatters ? std::nullopt : observed(compare_form(run.ranks[rank])),
                           .exchange = observed(compare_exchange(run, run.ranks[rank]))});
  const std::optional<double> publish = least_seconds(run, "publish");
  if (synced) found.publish = publish;
  if (scatters) return found;
  found.start = latest_start(run);
  found.select = rest_of(run, found.start.value_or(0), publish.value_or(0));
  return found;
}

LearnedText learned_cluster(const SortJob& job, const RunReport& run, const comm::Communicator& ranks) {
  const std::string& path = job.learned_cluster;
  const std::string text = read_text_file(path);
  if (!run.has_whole_predictions())
    return {text, {fmt::format("{} learned nothing: it does not describe whole runs", path)}};
  try {
    const std::vector<std::size_t> nodes = places_of_ranks(partition::parse_cluster(text, path), path, ranks).nodes;
    return {partition::with_observed_run(text, path, observed_run(run, nodes, job.options.output.sync))};
  } catch (const std::exception& error) {
    return {text, {fmt::format("{} learned nothing: {}", path, error.what())}};
  }
}

}  // namespace

std::string learned_path(const SortJob& job) { return job.curves ? job.curves->path() : job.learned_cluster; }

LearnedText learned_text(SortJob& job, const LoggedSort& run, const comm::Communicator& ranks) {
  if (!job.curves) return learned_cluster(job, run.described(), ranks);
  LearnedText learned;
  learned.notes = job.curves->learn(run.work());
  learned.text = job.curves->text();
  return learned;
}

}  // namespace hetsort::job
