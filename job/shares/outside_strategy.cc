// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "job/shares/outside_strategy.h"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "job/report/json.h"
#include "job/request/request_error.h"
#include "job/shares/ask_program.h"
#include "partition/error.h"

namespace hetsort::job {

namespace {

using Json = nlohmann::ordered_json;

/// The points of a cost: enough for straight lines between them, and few for hundreds of nodes.
constexpr std::int64_t kCostSteps = 16;

Json points_of(const partition::CostFunction& cost, std::int64_t records) {
  Json points = Json::array();
  for (std::int64_t i = 0; i <= kCostSteps; ++i) {
    const std::int64_t at = records / kCostSteps * i + records % kCostSteps * i / kCostSteps;
    points.push_back({at, cost.value(static_cast<double>(at))});
  }
  return points;
}

Json json_of(const partition::ProblemNode& node, std::int64_t records) {
  Json json{{"name", node.name}};
  if (node.speed) json["speed"] = *node.speed;
  if (node.min_records > 0) json["min_records"] = node.min_records;
  if (node.max_records != partition::kNoCap) json["max_records"] = node.max_records;
  if (node.input_records) json["input_records"] = *node.input_records;
  json["cost"] = points_of(*node.compute, records);
  if (node.receive) json["receive"] = points_of(*node.receive, records);
  return json;
}

std::string problem_text(const partition::Problem& problem) {
  Json json{{"schema", "hetsort.problem/1"},
            {"records", problem.records},
            {"unit", partition::unit_of_costs(problem)},
            {"scatter", problem.scatter},
            {"nodes", Json::array()}};
  for (const partition::ProblemNode& node : problem.nodes) json["nodes"].push_back(json_of(node, problem.records));
  return json_text(json) + "\n";
}

/// The numbers of a field; none if the field may be and is left out. Throws: RequestError.
std::vector<std::int64_t> records_in(const Json& answer, const char* field, bool needed) {
  std::vector<std::int64_t> records;
  if (!needed && !answer.contains(field)) return records;
  if (!answer.is_object() || !answer.contains(field) || !answer.at(field).is_array())
    throw RequestError(fmt::format("the answer has no array '{}'", field));
  for (const Json& value : answer.at(field)) {
    if (!value.is_number_integer() || value < 0)
      throw RequestError(
          fmt::format("'{}' has {}, which is no number of records", field, printable(value.dump().substr(0, 40))));
    records.push_back(value.get<std::int64_t>());
  }
  return records;
}

}  // namespace

partition::Plan plan_outside(const partition::Problem& problem, const std::string& strategy) {
  partition::validate(problem);
  if (problem.records == 0)
    return partition::plan_of_shares(problem, strategy, std::vector<std::int64_t>(problem.nodes.size()), {});
  try {
    const ProgramAnswer said = ask_program(strategy.substr(kOutside.size()), problem_text(problem));
    const Json answer = Json::parse(said.out);
    const bool own_input = problem.nodes.front().input_records.has_value();
    partition::Plan plan =
        partition::plan_of_shares(problem, strategy, records_in(answer, "shares", true),
                                  own_input ? std::vector<std::int64_t>() : records_in(answer, "input", false));
    plan.note = last_line(said.err);
    return plan;
  } catch (const Json::exception& error) {
    throw RequestError(fmt::format("strategy '{}': the answer is no JSON: {}", strategy, printable(error.what())));
  } catch (const partition::PlanError& error) {
    throw RequestError(fmt::format("strategy '{}': {}", strategy, error.what()));
  } catch (const RequestError& error) {
    throw RequestError(fmt::format("strategy '{}': {}", strategy, error.what()));
  }
}

}  // namespace hetsort::job
