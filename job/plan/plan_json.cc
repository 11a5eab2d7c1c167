// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "job/plan/plan_json.h"

#include <nlohmann/json.hpp>

#include "job/report/json.h"

namespace hetsort::job {
namespace {

using Json = nlohmann::ordered_json;

/// What the model of a whole run says of a node.
void add_phases(Json& node, std::int64_t input, const partition::PhaseTime& form,
                const partition::PhaseTime& exchange) {
  node["input"] = input;
  node["form_runs"] = form.seconds;
  node["form_runs_bound"] = partition::resource_name(form.bound);
  node["exchange"] = exchange.seconds;
  node["exchange_bound"] = partition::resource_name(exchange.bound);
}

/// What the model of the program says of a node.
Json times_json(const partition::NodeTimes& times) {
  return {{"seconds", times.seconds()}, {"computing", times.computing}, {"reading", times.reading},
          {"writing", times.writing},   {"sending", times.sending},     {"receiving", times.receiving},
          {"blocked", times.blocked}};
}

Json to_json(const partition::Plan& plan) {
  Json json{{"schema", "hetsort.plan/1"}, {"strategy", plan.strategy}, {"records", plan.records},
            {"unit", plan.unit},          {"makespan", plan.makespan}, {"lower_bound", plan.lower_bound}};
  if (plan.guarantee) json["guarantee"] = *plan.guarantee;
  if (plan.run)
    json["run"] = {{"seconds", plan.run->seconds},
                   {"form_runs", plan.run->form_seconds},
                   {"exchange", plan.run->exchange_seconds}};
  if (plan.program)
    json["program"] = {{"seconds", plan.program->seconds}, {"iteration", plan.program->iteration_seconds}};
  if (!plan.history.empty()) {
    Json& steps = json["search"] = Json::array();
    for (const partition::SearchStep& step : plan.history)
      steps.push_back({{"seconds", step.seconds}, {"makespan", step.makespan}});
  }
  Json& nodes = json["nodes"] = Json::array();
  for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
    const partition::NodePlan& node = plan.nodes[i];
    nodes.push_back({{"name", node.name},
                     {"label", node_label(node.name, node.number)},
                     {"records", node.records},
                     {"finish", node.finish}});
    if (plan.run) add_phases(nodes.back(), node.input, plan.run->form[i], plan.run->exchange[i]);
    if (plan.program) nodes.back()["program"] = times_json(plan.program->nodes[i]);
  }
  return json;
}

/// Limits of a node, as far as the cluster file gives them.
Json limits_json(const partition::ClusterNode& node) {
  Json json{{"name", node.name}};
  if (node.limits.cores) json["cpu"] = *node.limits.cores;
  if (node.memory_bytes) json["memory"] = *node.memory_bytes;
  const auto add_rate = [&](const char* name, const std::optional<double>& bytes_per_second) {
    if (bytes_per_second) json[name] = *bytes_per_second;
  };
  add_rate("disk_read", node.disk_read_bytes_per_second);
  add_rate("disk_write", node.disk_write_bytes_per_second);
  add_rate("bandwidth", node.limits.link_bytes_per_second);
  if (node.limits.latency_seconds) json["latency"] = *node.limits.latency_seconds;
  return json;
}

}  // namespace

std::string node_label(const std::string& name, std::size_t number) {
  return number == 0 ? name : name + "#" + std::to_string(number);
}

std::string plan_json(const partition::Plan& plan, std::span<const partition::ClusterNode> cluster_nodes) {
  Json json = to_json(plan);
  for (const partition::ClusterNode& node : cluster_nodes) json["cluster"].push_back(limits_json(node));
  return json_text(json) + "\n";
}

std::string comparison_json(const partition::Comparison& comparison) {
  Json json{{"schema", "hetsort.plans/1"}};
  Json& plans = json["plans"] = Json::array();
  for (const partition::TimedPlan& timed : comparison.plans) {
    Json plan = to_json(timed.plan);
    plan["plan_seconds"] = timed.plan_seconds;
    plans.push_back(std::move(plan));
  }
  return json_text(json) + "\n";
}

}  // namespace hetsort::job
