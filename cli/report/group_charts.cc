// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "cli/report/charts.h"
#include "cli/report/html.h"

namespace hetsort::cli {
namespace {

/// A tick: a narrow bar with its middle at `value` on an axis that ends at `end`.
Bar tick(std::size_t row, double value, double end, std::string css_class) {
  constexpr double kTickWidth = 0.002;
  const double half = end * kTickWidth / 2;
  return {.row = row, .left = std::max(0.0, value - half), .right = value + half, .css_class = std::move(css_class)};
}

std::vector<std::string> group_labels(const std::vector<RunGroup>& groups) {
  std::vector<std::string> labels;
  labels.reserve(groups.size());
  for (const RunGroup& group : groups) labels.push_back(group.label);
  return labels;
}

}  // namespace

Chart seconds_chart(const std::vector<RunGroup>& groups) {
  Chart chart{.title = "Seconds of each strategy: median, every run, prediction",
              .rows = group_labels(groups),
              .bars = {},
              .axis = "seconds",
              .end = kMinAxisSeconds};
  for (const RunGroup& group : groups)
    chart.end = std::max({chart.end, group.max_seconds * kHeadroom, group.predicted_seconds.value_or(0) * kHeadroom});
  for (std::size_t row = 0; row < groups.size(); ++row) {
    const RunGroup& group = groups[row];
    if (group.runs.empty()) continue;
    chart.bars.push_back({.row = row,
                          .right = group.median_seconds,
                          .top = -0.3,
                          .bottom = 0.3,
                          .css_class = "median",
                          .tip = fmt::format("{}: median {} s", group.label, seconds_text(group.median_seconds))});
    for (const job::RunReport* run : group.runs) {
      chart.bars.push_back(tick(row, run->seconds, chart.end, "one"));
      chart.bars.back().tip = fmt::format("{}: {} s", group.label, seconds_text(run->seconds));
    }
    if (!group.predicted_seconds) continue;
    chart.bars.push_back(tick(row, *group.predicted_seconds, chart.end, "predicted"));
    chart.bars.back().tip = fmt::format("{}: predicted {} s", group.label, seconds_text(*group.predicted_seconds));
  }
  return chart;
}

Chart finishes_chart(const std::vector<RunGroup>& groups) {
  Chart chart{.title = "When each rank finished, by strategy",
              .rows = group_labels(groups),
              .bars = {},
              .axis = "seconds since the start",
              .end = kMinAxisSeconds};
  for (const RunGroup& group : groups)
    for (const double finish : group.finishes) chart.end = std::max(chart.end, finish * kHeadroom);
  for (std::size_t row = 0; row < groups.size(); ++row) {
    const RunGroup& group = groups[row];
    if (group.finishes.empty()) continue;
    const auto [first, last] = std::minmax_element(group.finishes.begin(), group.finishes.end());
    chart.bars.push_back({.row = row,
                          .left = *first,
                          .right = *last,
                          .top = -0.3,
                          .bottom = 0.3,
                          .css_class = "band",
                          .tip = fmt::format("{}: first rank done at {} s, last at {} s", group.label,
                                             seconds_text(*first), seconds_text(*last))});
    for (std::size_t i = 0; i < group.finishes.size(); ++i) {
      chart.bars.push_back(tick(row, group.finishes[i], chart.end, "one"));
      chart.bars.back().tip =
          fmt::format("{}: {} done at {} s", group.label, group.rank_names[i], seconds_text(group.finishes[i]));
    }
  }
  return chart;
}

}  // namespace hetsort::cli
