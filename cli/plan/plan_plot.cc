// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The pictures of `plan --plot`.
#include <fmt/format.h>

#include <string_view>

#include "cli/plan/plan_output.h"
#include "cli/shared/gnuplot.h"

namespace hetsort::cli {
namespace {

std::string picture(const std::string& script) {
  try {
    return run_gnuplot(script);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--plot: {}", error.what()));
  }
}

/// What all pictures have in common.
constexpr std::string_view kScriptHead =
    "set terminal svg size 960,540 noenhanced background rgb 'white'\n"
    "set style fill solid 0.8 border -1\nset boxwidth 0.8\nset grid y\nset yrange [0:*]\nset xtics rotate by -45\n";

}  // namespace

std::string plan_picture(const partition::Plan& plan) {
  std::string script(kScriptHead);
  script += "$plan << END_OF_PLAN\n";
  for (std::size_t i = 0; i < plan.nodes.size(); ++i)
    script += fmt::format("{} {} {} {}\n", i, data_field(label_of(plan.nodes[i], 32)), plan.nodes[i].records,
                          plan.nodes[i].finish);
  constexpr std::size_t kMaxLabels = 64;
  const std::string labels = plan.nodes.size() <= kMaxLabels ? ":xtic(2)" : "";
  script += fmt::format(
      "END_OF_PLAN\nset title {}\nset ylabel 'records'\nset y2label {}\nset ytics nomirror\nset y2tics\n"
      "set y2range [0:*]\nset key outside bottom center horizontal\n"
      "plot $plan using 1:3{} with boxes linecolor rgb '#4c78a8' title 'records', "
      "$plan using 1:4 axes x1y2 with points pointtype 7 linecolor rgb '#e45756' title 'finish'\n",
      gnuplot_text(fmt::format("{} records, strategy {}", plan.records, plan.strategy)),
      gnuplot_text(fmt::format("finish ({})", plan.unit)), labels);
  return picture(script);
}

std::string comparison_picture(const partition::Comparison& comparison, const PlanRequest& request) {
  std::string script(kScriptHead);
  script += "$plans << END_OF_PLANS\n";
  for (std::size_t i = 0; i < comparison.plans.size(); ++i) {
    const partition::Plan& plan = comparison.plans[i].plan;
    script += fmt::format("{} {} {} {}\n", i, data_field(plan.strategy), plan.makespan, plan.lower_bound);
  }
  script += fmt::format(
      "END_OF_PLANS\nset title {}\nset ylabel {}\nset key outside bottom center horizontal\n"
      "plot $plans using 1:3:xtic(2) with boxes linecolor rgb '#4c78a8' title 'makespan', "
      "$plans using 1:4 with lines linewidth 2 linecolor rgb '#e45756' title 'lower bound'\n",
      gnuplot_text(fmt::format("{} records", request.problem.records)),
      gnuplot_text(fmt::format("makespan ({})", unit_of_costs(request.problem))));
  return picture(script);
}

}  // namespace hetsort::cli
