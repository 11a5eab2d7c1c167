// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/problem.h"

#include <fmt/format.h>

#include <cassert>
#include <cmath>
#include <map>

#include "partition/error.h"

namespace hetsort::partition {
namespace {

__extension__ using Wide = __int128;  // sums of 63-bit numbers

std::string to_text(Wide value) {
  std::string digits;
  for (; value > 0; value /= 10) digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(value % 10)));
  return digits.empty() ? "0" : digits;
}

void validate_node(const ProblemNode& node) {
  if (!node.compute) throw PlanError(fmt::format("node '{}' has neither a compute cost nor a speed", node.name));
  if (node.min_records < 0 || node.max_records < 0)
    throw PlanError(fmt::format("node '{}': a limit on its records is negative", node.name));
  if (node.min_records > node.max_records)
    throw PlanError(fmt::format("node '{}' must take {} records but can hold only {}", node.name, node.min_records,
                                node.max_records));
  if (node.speed && !(std::isfinite(*node.speed) && *node.speed > 0))
    throw PlanError(
        fmt::format("node '{}': its speed must be a finite number above zero, not {}", node.name, *node.speed));
}

}  // namespace

LinkMatrix select_links(const LinkMatrix& links, std::span<const std::size_t> places) {
  LinkMatrix selected;
  if (links.empty()) return selected;
  for (const std::size_t from : places) {
    selected.emplace_back();
    for (const std::size_t to : places) selected.back().push_back(links[from][to]);
  }
  return selected;
}

std::string_view unit_of_costs(const Problem& problem) { return problem.speed_shape ? "work units" : "s"; }

std::vector<std::size_t> numbers_of_names(std::span<const std::string> names) {
  std::map<std::string_view, std::size_t> count;
  for (const std::string& name : names) ++count[name];
  std::erase_if(count, [](const auto& name) { return name.second == 1; });
  for (auto& name : count) name.second = 0;
  std::vector<std::size_t> numbers(names.size());
  for (std::size_t i = 0; i < names.size(); ++i)
    if (const auto shared = count.find(names[i]); shared != count.end()) numbers[i] = ++shared->second;
  return numbers;
}

void keep_nodes(Problem& problem, std::span<const std::size_t> places) {
  std::vector<ProblemNode> nodes;
  for (const std::size_t place : places) nodes.push_back(problem.nodes[place]);
  problem.nodes = std::move(nodes);
  if (problem.link_seconds)
    problem.link_seconds = std::make_shared<const LinkMatrix>(select_links(*problem.link_seconds, places));
}

Problem problem_from_speeds(std::int64_t records, std::span<const double> speeds, const CostPtr& shape) {
  Problem problem{.records = records, .nodes = {}, .speed_shape = shape};
  problem.nodes.reserve(speeds.size());
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    if (!(std::isfinite(speeds[i]) && speeds[i] > 0))
      throw PlanError(fmt::format("speed number {} must be a finite number above zero, not {}", i + 1, speeds[i]));
    ProblemNode node;
    node.name = std::to_string(i);
    node.speed = speeds[i];
    node.compute = scaled_cost(shape, speeds[i]);
    problem.nodes.push_back(std::move(node));
  }
  return problem;
}

void validate(const Problem& problem) {
  if (problem.nodes.empty()) throw PlanError("there is no node to plan for");
  if (problem.records < 0) throw PlanError(fmt::format("the number of records is negative: {}", problem.records));
  Wide minima = 0;
  Wide caps = 0;
  for (const ProblemNode& node : problem.nodes) {
    validate_node(node);
    minima += node.min_records;
    caps += node.max_records;
  }
  if (caps < problem.records)
    throw PlanError(fmt::format("the caps of the nodes hold {} records together, {} fewer than the {} to be shared",
                                to_text(caps), to_text(problem.records - caps), problem.records));
  if (minima > problem.records)
    throw PlanError(fmt::format("the nodes must take at least {} records together, {} more than the {} to be shared",
                                to_text(minima), to_text(minima - problem.records), problem.records));
}

std::vector<double> finish_times(const Problem& problem, std::span<const std::int64_t> shares) {
  assert(shares.size() == problem.nodes.size());
  std::vector<double> finish(problem.nodes.size(), 0.0);
  if (problem.speed_shape && !problem.scatter) {  // the same quotient, without calling every node's own function
    for (std::size_t i = 0; i < finish.size(); ++i)
      if (shares[i] > 0)
        finish[i] =
            problem.start_delay + problem.speed_shape->value(static_cast<double>(shares[i])) / *problem.nodes[i].speed;
    return finish;
  }
  double sent = problem.start_delay;
  for (std::size_t i = 0; i < finish.size(); ++i) {
    if (shares[i] == 0) continue;
    const auto records = static_cast<double>(shares[i]);
    const ProblemNode& node = problem.nodes[i];
    if (problem.scatter && node.receive) sent += node.receive->value(records);
    finish[i] = (problem.scatter ? sent : problem.start_delay) + node.compute->value(records);
  }
  return finish;
}

RunModel run_model_of(const Problem& problem) {
  assert(problem.run);
  RunModel model = *problem.run;
  model.ranks.reserve(problem.nodes.size());
  for (const ProblemNode& node : problem.nodes) {
    model.ranks.push_back(*node.resources);
    if (node.max_records != kNoCap) model.ranks.back().max_records = node.max_records;
  }
  return model;
}

std::vector<std::int64_t> given_input(const Problem& problem) {
  std::vector<std::int64_t> input;
  for (const ProblemNode& node : problem.nodes)
    if (node.input_records) input.push_back(*node.input_records);
  return input;
}

}  // namespace hetsort::partition
