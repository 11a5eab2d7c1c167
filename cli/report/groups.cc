// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Groups of comparable runs, and the medians of each group.
#include "cli/report/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <tuple>

namespace hetsort::cli {
namespace {

auto identity(const job::RunReport& run) {
  return std::make_tuple(std::cref(run.strategy), std::cref(run.exchange), run.records, run.bytes, run.ranks.size());
}

/// The label of a run's group: the strategy, and those parts of the identity in which runs of this strategy differ.
std::string label_of(const job::RunReport& run, const std::vector<job::RunReport>& runs) {
  bool exchanges = false;
  bool sizes = false;
  bool ranks = false;
  for (const job::RunReport& other : runs) {
    if (other.strategy != run.strategy || !other.error.empty()) continue;
    exchanges = exchanges || other.exchange != run.exchange;
    sizes = sizes || other.records != run.records || other.bytes != run.bytes;
    ranks = ranks || other.ranks.size() != run.ranks.size();
  }
  std::string label = run.strategy;
  if (exchanges) label += fmt::format(", {}", run.exchange.empty() ? "no exchange" : run.exchange);
  if (sizes) label += fmt::format(", {} records, {} bytes", run.records, run.bytes);
  if (ranks) label += fmt::format(", {} ranks", run.ranks.size());
  return label;
}

void summarize(RunGroup& group) {
  std::vector<double> seconds;
  std::vector<double> predictions;
  for (const job::RunReport* run : group.runs) {
    seconds.push_back(run->seconds);
    if (run->predicted_seconds) predictions.push_back(*run->predicted_seconds);
  }
  if (seconds.empty()) return;
  group.median_seconds = median(seconds);
  group.min_seconds = *std::min_element(seconds.begin(), seconds.end());
  group.max_seconds = *std::max_element(seconds.begin(), seconds.end());
  if (!predictions.empty()) group.predicted_seconds = median(predictions);
  for (std::size_t rank = 0; rank < group.runs.front()->ranks.size(); ++rank) {
    std::vector<double> finishes;
    finishes.reserve(group.runs.size());
    std::string name = job::rank_label(group.runs.front()->ranks[rank]);
    for (const job::RunReport* run : group.runs) {
      finishes.push_back(run->ranks[rank].work_end());
      if (job::rank_label(run->ranks[rank]) != name) name = std::to_string(run->ranks[rank].rank);
    }
    group.rank_names.push_back(name);
    group.finishes.push_back(median(finishes));
  }
}

}  // namespace

double RunGroup::spread() const { return median_seconds > 0 ? (max_seconds - min_seconds) / median_seconds : 0; }

double RunGroup::finish_spread() const {
  if (finishes.empty()) return 0;
  const auto [first, last] = std::minmax_element(finishes.begin(), finishes.end());
  return *last > 0 ? (*last - *first) / *last : 0;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::set<job::ContextEntry> common_context(const std::vector<job::RunReport>& runs) {
  std::set<job::ContextEntry> common;
  for (const job::RunReport& run : runs) {
    const std::set<job::ContextEntry> own(run.context.begin(), run.context.end());
    if (&run == &runs.front())
      common = own;
    else
      std::erase_if(common, [&](const job::ContextEntry& entry) { return !own.contains(entry); });
  }
  return common;
}

std::vector<RunGroup> group_runs(const std::vector<job::RunReport>& runs) {
  std::vector<RunGroup> groups;
  std::vector<const job::RunReport*> first_of;
  const auto group_of = [&](const job::RunReport& run, const auto& same) -> RunGroup& {
    const auto found = std::find_if(first_of.begin(), first_of.end(), same);
    if (found != first_of.end()) return groups[static_cast<std::size_t>(found - first_of.begin())];
    first_of.push_back(&run);
    groups.emplace_back().label = label_of(run, runs);
    return groups.back();
  };
  for (const job::RunReport& run : runs) {
    const auto same = [&](const job::RunReport* other) { return identity(*other) == identity(run); };
    if (run.error.empty()) group_of(run, same).runs.push_back(&run);
  }
  for (const job::RunReport& run : runs) {
    // A failed run may have incomplete numbers, so only strategy and exchange are compared.
    const auto same = [&](const job::RunReport* other) {
      return other->strategy == run.strategy && other->exchange == run.exchange;
    };
    if (!run.error.empty()) ++group_of(run, same).failed;
  }
  for (RunGroup& group : groups) summarize(group);
  return groups;
}

}  // namespace hetsort::cli
