// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/plan/plan_output.h"
#include "cli/terminal/columns.h"
#include "cli/terminal/csv.h"

namespace hetsort::cli {
namespace {

using partition::Comparison;
using partition::NodePlan;
using partition::Plan;
using partition::TimedPlan;

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// A number with two decimals where they carry something, else with six digits: 403.98, 843197.08, 1.30440e+13,
/// 0.00123.
std::string figure(double value) {
  constexpr double kMaxPlain = 1e9;
  if (value == 0) return "0";
  if (value >= 1 && value < kMaxPlain) return fmt::format("{:.2f}", value);
  return fmt::format("{:#.6g}", value);
}

double ratio_to_bound(const Plan& plan) { return plan.lower_bound > 0 ? plan.makespan / plan.lower_bound : 1.0; }

/// A bar of `width` columns, divided in proportion to the records; each node has a letter.
std::string stacked_bar(const Plan& plan, std::size_t width) {
  std::string bar;
  double before = 0;
  for (std::size_t i = 0; i < plan.nodes.size() && plan.records > 0; ++i) {
    before += static_cast<double>(plan.nodes[i].records) / static_cast<double>(plan.records);
    const auto end = static_cast<std::size_t>(std::llround(before * static_cast<double>(width)));
    bar.resize(std::clamp(end, bar.size(), width), kLetters[i % kLetters.size()]);
  }
  bar.resize(width, ' ');
  return bar;
}

std::string legend(const Plan& plan) {
  if (plan.nodes.size() > kLetters.size()) return "letters: nodes in order, over and over\n";
  std::string text;
  std::string line = "letters:";
  for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
    const std::string entry = fmt::format(" {}={}", kLetters[i], label_of(plan.nodes[i], 32));
    if (line.size() + entry.size() > kColumns) {
      text += line + "\n";
      line = "        ";
    }
    line += entry;
  }
  return text + line + "\n";
}

}  // namespace

std::string plan_table(const Plan& plan, const job::PreparedPlan& prepared, bool explain) {
  std::string text = prepared.heading.empty() ? "" : terminal_safe(prepared.heading) + "\n";
  text += fmt::format("strategy     {}\nrecords      {}\nmakespan     {} {}\n", plan.strategy, plan.records,
                      figure(plan.makespan), plan.unit);
  text += fmt::format("lower bound  {} {} (makespan / bound = {:.6f})\n", figure(plan.lower_bound), plan.unit,
                      ratio_to_bound(plan));
  if (plan.guarantee)
    text += fmt::format("guarantee    at most {} {} above the optimum\n", figure(*plan.guarantee), plan.unit);
  if (!plan.note.empty()) text += fmt::format("note         {}\n", terminal_safe(plan.note));
  if (!plan.history.empty())
    text += fmt::format("search       {} better plans, the last after {:.3g} s\n", plan.history.size() - 1,
                        plan.history.back().seconds);
  if (explain)
    for (const std::string& line : prepared.explanations) text += terminal_safe(line) + "\n";
  constexpr std::size_t kNameColumn = 16;
  constexpr std::size_t kBar = 26;
  text += fmt::format("\n{:<{}} {:>19} {:>14}  share\n", "node", kNameColumn, "records", "finish");
  std::int64_t most = 1;
  for (const NodePlan& node : plan.nodes) most = std::max(most, node.records);
  for (const NodePlan& node : plan.nodes) {
    const double part = static_cast<double>(node.records) / static_cast<double>(most);
    text += fmt::format("{:<{}} {:>19} {:>14}  {}\n", label_of(node, kNameColumn), kNameColumn, node.records,
                        figure(node.finish),
                        std::string(static_cast<std::size_t>(std::llround(part * static_cast<double>(kBar))), '#'));
  }
  return text + run_table(plan, explain) + program_table(plan, prepared.problem);
}

std::string comparison_table(const Comparison& comparison, const job::PreparedPlan& prepared) {
  std::string text = prepared.heading.empty() ? "" : terminal_safe(prepared.heading) + "\n";
  text += fmt::format("{} records; makespan in {}; bound: no plan is faster; spread: of finish times\n\n",
                      prepared.problem.records, unit_of_costs(prepared.problem));
  text +=
      fmt::format("{:<20} {:>15} {:>12} {:>10} {:>14}\n", "strategy", "makespan", "/ bound", "spread", "time to plan");
  for (const TimedPlan& timed : comparison.plans) {
    text += fmt::format("{:<20} {:>15} {:>12.6f} {:>8.2f} % {:>11.3f} ms\n", timed.plan.strategy,
                        figure(timed.plan.makespan), ratio_to_bound(timed.plan), 100 * finish_spread(timed.plan),
                        1e3 * timed.plan_seconds);
  }
  constexpr std::size_t kNameColumn = 18;
  text += "\nshares\n";
  for (const TimedPlan& timed : comparison.plans)
    text += fmt::format("{:<{}} |{}|\n", shortened(timed.plan.strategy, kNameColumn), kNameColumn,
                        stacked_bar(timed.plan, kColumns - kNameColumn - 3));
  if (!comparison.plans.empty()) text += legend(comparison.plans.front().plan);
  text += run_ranking(comparison) + program_ranking(comparison);
  if (!comparison.left_out.empty()) text += "\nleft out\n";
  for (const partition::LeftOut& one : comparison.left_out)
    text += fmt::format("  {}: {}\n", one.strategy, terminal_safe(one.reason));
  return text;
}

std::string plans_csv(const Comparison& comparison) {
  std::string text =
      csv_line({"strategy", "makespan", "lower_bound", "node", "number", "input_records", "records", "finish"});
  for (const TimedPlan& timed : comparison.plans)
    for (const NodePlan& node : timed.plan.nodes)
      text += csv_line({timed.plan.strategy, timed.plan.makespan, timed.plan.lower_bound, node.name, node.number,
                        node.input, node.records, node.finish});
  return text;
}

}  // namespace hetsort::cli
