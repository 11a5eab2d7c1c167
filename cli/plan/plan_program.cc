// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What `hetsort plan --program` prints.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/plan/plan_output.h"
#include "cli/terminal/columns.h"
#include "cli/terminal/messages.h"

namespace hetsort::cli {

using partition::NodeTimes;
using partition::Plan;

std::string program_table(const Plan& plan, const partition::Problem& problem) {
  if (!plan.program) return "";
  const partition::ProgramPredictor& program = *problem.program;
  std::string text = fmt::format("\nprogram      {}: {:.6g} s, {} iterations of {:.6g} s\n\n",
                                 shortened(terminal_safe(program.name()), 32), plan.program->seconds,
                                 program.iterations(), plan.program->iteration_seconds);
  text += fmt::format("{:<14} {:>9} {:>8} {:>8} {:>8} {:>9} {:>9} {:>8}\n", "node", "computing", "reading", "writing",
                      "sending", "receiving", "blocked", "seconds");
  for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
    const NodeTimes& times = plan.program->nodes[i];
    text += fmt::format("{:<14} {:>9.4g} {:>8.4g} {:>8.4g} {:>8.4g} {:>9.4g} {:>9.4g} {:>8.4g}\n",
                        label_of(plan.nodes[i], 14), times.computing, times.reading, times.writing, times.sending,
                        times.receiving, times.blocked, times.seconds());
  }
  return text;
}

std::string program_ranking(const partition::Comparison& comparison) {
  std::vector<const Plan*> plans;
  for (const partition::TimedPlan& timed : comparison.plans)
    if (timed.plan.program) plans.push_back(&timed.plan);
  if (plans.empty()) return "";
  std::ranges::stable_sort(plans, {}, [](const Plan* plan) { return plan->program->seconds; });
  std::string text = fmt::format("\n{:<20} {:>12} {:>12}\n", "program", "seconds", "iteration");
  for (const Plan* plan : plans)
    text += fmt::format("{:<20} {:>12.6g} {:>12.6g}\n", plan->strategy, plan->program->seconds,
                        plan->program->iteration_seconds);
  return text;
}

}  // namespace hetsort::cli
