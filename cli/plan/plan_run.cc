// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What `hetsort plan` prints of the model of a whole run.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

#include "cli/plan/plan_output.h"
#include "cli/terminal/columns.h"
#include "cli/terminal/messages.h"

namespace hetsort::cli {
namespace {

using partition::PhaseTime;
using partition::Plan;
using partition::Resource;

/// The resources that bound the nodes: "processor (a, b), link out (c)". Of many nodes, the first few are named.
std::string bounds(const Plan& plan, const std::vector<PhaseTime>& times) {
  constexpr std::size_t kMaxNames = 4;
  std::map<Resource, std::vector<std::string>> names;
  for (std::size_t i = 0; i < times.size(); ++i) names[times[i].bound].push_back(label_of(plan.nodes[i], 32));
  std::vector<std::string> parts;
  for (auto& [resource, of_resource] : names) {
    const std::size_t more = of_resource.size() - std::min(kMaxNames, of_resource.size());
    of_resource.resize(of_resource.size() - more);
    parts.push_back(fmt::format("{} ({}{})", partition::resource_name(resource), fmt::join(of_resource, ", "),
                                more > 0 ? fmt::format(" and {} more", more) : ""));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string explanation(const Plan& plan) {
  std::string text = fmt::format("bounds       form_runs: {}; exchange: {}\n", bounds(plan, plan.run->form),
                                 bounds(plan, plan.run->exchange));
  if (!plan.explanation.empty()) text += fmt::format("plan         {}\n", terminal_safe(plan.explanation));
  if (!plan.run->unlimited.empty())
    text += fmt::format("unlimited    {} (not in the cluster file)\n", fmt::join(plan.run->unlimited, ", "));
  return text;
}

}  // namespace

std::string run_table(const Plan& plan, bool explain) {
  if (!plan.run) {
    if (!explain || plan.run_missing.empty()) return "";
    return fmt::format("\nwhole run    not known: {}\n", terminal_safe(plan.run_missing));
  }
  std::string text = fmt::format("\nwhole run    {:.3f} s: form_runs {:.3f} s, exchange {:.3f} s\n", plan.run->seconds,
                                 plan.run->form_seconds, plan.run->exchange_seconds);
  if (explain) text += explanation(plan);
  text += fmt::format("\n{:<16} {:>14} {:>10} {:<11}  {:>10} {}\n", "node", "input", "form_runs", "bound by",
                      "exchange", "bound by");
  for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
    const PhaseTime& form = plan.run->form[i];
    const PhaseTime& exchange = plan.run->exchange[i];
    text += fmt::format("{:<16} {:>14} {:>10.3f} {:<11}  {:>10.3f} {}\n", label_of(plan.nodes[i], 16),
                        plan.nodes[i].input, form.seconds, partition::resource_name(form.bound), exchange.seconds,
                        partition::resource_name(exchange.bound));
  }
  return text;
}

std::string run_ranking(const partition::Comparison& comparison) {
  std::vector<const Plan*> plans;
  for (const partition::TimedPlan& timed : comparison.plans)
    if (timed.plan.run) plans.push_back(&timed.plan);
  if (plans.empty()) return "";
  std::ranges::stable_sort(plans, {}, [](const Plan* plan) { return plan->run->seconds; });
  std::string text = fmt::format("\n{:<20} {:>12} {:>12} {:>12}\n", "whole run", "seconds", "form_runs", "exchange");
  for (const Plan* plan : plans)
    text += fmt::format("{:<20} {:>12.3f} {:>12.3f} {:>12.3f}\n", plan->strategy, plan->run->seconds,
                        plan->run->form_seconds, plan->run->exchange_seconds);
  return text;
}

}  // namespace hetsort::cli
