// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The sections about all runs: the comparison and the environment.
#include <fmt/format.h>

#include <algorithm>

#include "cli/report/html.h"
#include "cli/report/page.h"

namespace hetsort::cli {
namespace {

/// The table of finish times has a column for each group. With more groups than kMaxColumns it is omitted.
constexpr std::size_t kMaxColumns = 16;
/// A table with more rows is folded.
constexpr std::size_t kMaxOpenRows = 16;

std::vector<std::string> group_cells(const RunGroup& group) {
  const std::string nothing(kNothing);
  std::vector<std::string> cells{group.label, count_text(group.runs.size()), count_text(group.failed)};
  if (group.runs.empty()) {
    cells.resize(12, nothing);
    return cells;
  }
  const double last = group.finishes.empty() ? 0 : *std::max_element(group.finishes.begin(), group.finishes.end());
  const double first = group.finishes.empty() ? 0 : *std::min_element(group.finishes.begin(), group.finishes.end());
  for (const double seconds : {group.median_seconds, group.min_seconds, group.max_seconds})
    cells.push_back(seconds_text(seconds));
  cells.push_back(percent_text(group.spread()));
  cells.push_back(rate_text(group.runs.front()->bytes, group.median_seconds));
  cells.push_back(group.predicted_seconds ? seconds_text(*group.predicted_seconds) : nothing);
  cells.push_back(group.predicted_seconds && *group.predicted_seconds > 0
                      ? fmt::format("{:.2f}", group.median_seconds / *group.predicted_seconds)
                      : nothing);
  cells.push_back(fmt::format("{} \u2013 {}", seconds_text(first), seconds_text(last)));
  cells.push_back(last > 0 ? percent_text(group.finish_spread()) : nothing);
  return cells;
}

std::string groups_table(const Report& report) {
  Table table("Seconds by strategy", {"strategy", "#runs", "#failed", "#median s", "#least s", "#most s", "#spread",
                                      "#MB/s", "#predicted s", "#measured / predicted", "#ranks finish, s", "#apart"});
  for (const RunGroup& group : report.groups) table.add(group_cells(group));
  return table.html();
}

std::string finishes_table(const Report& report) {
  std::vector<std::string_view> columns{"rank"};
  std::vector<std::string> names;
  names.reserve(report.groups.size());
  std::size_t ranks = 0;
  for (const RunGroup& group : report.groups) {
    names.push_back("#" + group.label);
    columns.push_back(names.back());
    ranks = std::max(ranks, group.finishes.size());
  }
  if (report.groups.size() > kMaxColumns || ranks == 0) return "";
  Table table("Finish of each rank, seconds: median of the runs", columns);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    std::vector<std::string> cells(1);
    for (const RunGroup& group : report.groups) {
      const bool has = rank < group.finishes.size();
      // If the groups have this rank on different hosts, only its number is shown.
      if (has && cells.front().empty()) cells.front() = group.rank_names[rank];
      if (has && cells.front() != group.rank_names[rank]) cells.front() = std::to_string(rank);
      cells.push_back(has ? seconds_text(group.finishes[rank]) : std::string(kNothing));
    }
    table.add(cells);
  }
  return fmt::format("<details{}><summary>When each rank finished, in figures</summary>\n{}</details>\n",
                     ranks <= kMaxOpenRows ? " open" : "", table.html());
}

}  // namespace

std::string comparison_section(const Report& report, const Pictures& pictures) {
  return "<section id=\"comparison\"><h2>Comparison</h2>\n" + groups_table(report) +
         figure(pictures.seconds, "Seconds: " + sample("median", "median of the runs") + sample("one", "each run") +
                                      sample("predicted", "predicted")) +
         figure(pictures.finishes,
                "When the ranks finished: " + sample("one", "each rank, median of the runs") +
                    sample("band", "from the first to the last") +
                    "<br>In a narrow band the ranks finished together; it does not show which strategy "
                    "is the fastest.") +
         finishes_table(report) +
         "<p class=\"small\">Spread: (most \u2212 least) / median. MB/s: bytes of all records / median seconds. Apart: "
         "(last "
         "\u2212 first) / last finish of the ranks. Failed runs count in none of these.</p></section>\n";
}

std::string environment_section(const Report& report) {
  Table table(report.runs.size() == 1 ? "Of this run" : "The same in all runs", {"what", "value"});
  for (const auto& entry : report.runs.front().context) {
    if (!report.common.contains(entry)) continue;
    table.add({entry.first, entry.second});
  }
  return "<section id=\"environment\"><h2>Environment</h2>\n" + (report.common.empty() ? "" : table.html()) +
         (report.runs.size() == 1 ? "" : "<p class=\"small\">What differs stands with each run.</p>") + "</section>\n";
}

}  // namespace hetsort::cli
