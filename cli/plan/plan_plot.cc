// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The pictures of `plan --plot`: charts as in the report. Seconds differ little between the nodes of a good plan and
// between good plans, so bars show the difference, and labels the seconds.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/options/command_line.h"
#include "cli/plan/plan_output.h"
#include "cli/report/charts.h"
#include "cli/report/html.h"

namespace hetsort::cli {
namespace {

/// The picture of charts. Throws: UsageError for charts with too many rows.
std::string picture_of(const std::string& title, std::span<const Chart> charts) {
  std::string svg = draw_alone(title, charts);
  if (svg.empty()) throw UsageError(fmt::format("--plot draws from 1 to {} nodes", kMaxRows));
  return svg;
}

/// A number with few digits: "494.4", "5.319 M".
std::string short_number(double value) {
  if (value >= 1e9) return fmt::format("{:.4g} G", value / 1e9);
  return value >= 1e6 ? fmt::format("{:.4g} M", value / 1e6) : fmt::format("{:.6g}", value);
}

std::string time_label(const std::string& name, double time, std::string_view unit) {
  return fmt::format("{}  {}{}", name, short_number(time), unit == "s" ? " s" : "");
}

/// A bar from 0 to `value` in the next row.
void add_bar(Chart& chart, const std::string& row, double value, const std::string& tip) {
  chart.bars.push_back({.row = chart.rows.size(), .right = value, .css_class = "actual", .tip = tip});
  chart.rows.push_back(row);
  chart.end = std::max(chart.end, value * kHeadroom);
}

}  // namespace

std::string plan_picture(const partition::Plan& plan) {
  constexpr std::size_t kMaxName = 16;
  std::int64_t most = 1;
  for (const partition::NodePlan& node : plan.nodes) most = std::max(most, node.records);
  const RecordScale scale = record_scale(static_cast<std::uint64_t>(most));
  Chart shares{.title = "Records of each node", .rows = {}, .bars = {}, .axis = scale.words};
  Chart early{.title = "How much earlier than the last a node finishes",
              .rows = {},
              .bars = {},
              .axis = "percent of the makespan",
              .end = 1};
  for (const partition::NodePlan& node : plan.nodes) {
    const std::string name = label_of(node, kMaxName);
    add_bar(shares, name, static_cast<double>(node.records) / scale.divisor,
            fmt::format("{}: {} records", name, node.records));
    if (node.records == 0) continue;
    const std::string label = time_label(name, node.finish, plan.unit);
    const double percent = plan.makespan > 0 ? 100 * (plan.makespan - node.finish) / plan.makespan : 0;
    add_bar(early, label, percent, fmt::format("{}, {:.3g} % earlier", label, percent));
  }
  if (early.bars.empty()) add_bar(early, "no records", 0, "");
  return picture_of(
      fmt::format("{} records, strategy {}, makespan {} {}", count_text(static_cast<std::uint64_t>(plan.records)),
                  plan.strategy, short_number(plan.makespan), plan.unit),
      std::array{shares, early});
}

std::string comparison_picture(const partition::Comparison& comparison, const partition::Problem& problem) {
  Chart chart{.title = "Makespan above the lower bound of all plans",
              .rows = {},
              .bars = {},
              .axis = "percent of the bound",
              .end = 1};
  for (const partition::TimedPlan& timed : comparison.plans) {
    const partition::Plan& plan = timed.plan;
    const std::string label = time_label(plan.strategy, plan.makespan, plan.unit);
    const double percent = plan.lower_bound > 0 ? 100 * (plan.makespan / plan.lower_bound - 1) : 0;
    add_bar(chart, label, percent, fmt::format("{}, {:.3g} % above the bound", label, percent));
  }
  return picture_of(fmt::format("{} records, makespan in {}", count_text(static_cast<std::uint64_t>(problem.records)),
                                unit_of_costs(problem)),
                    std::array{chart});
}

}  // namespace hetsort::cli
