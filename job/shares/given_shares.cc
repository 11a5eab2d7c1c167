// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "job/shares/given_shares.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "job/report/json.h"
#include "job/request/request_error.h"

namespace hetsort::job {

namespace {

using Json = nlohmann::ordered_json;

std::int64_t records_in(const Json& node, const char* field, const std::string& path) {
  const Json& value = node.at(field);
  if (!value.is_number_integer() || value < 0)
    throw RequestError(fmt::format("{}: '{}' of node '{}' is no number of records", path, field,
                                   printable(node.at("name").get<std::string>())));
  return value.get<std::int64_t>();
}

}  // namespace

GivenShares parse_plan(const std::string& text, const std::string& path) {
  GivenShares shares;
  try {
    const Json plan = Json::parse(text);
    if (plan.value("schema", "") == "hetsort.plans/1")
      throw RequestError(path + ": holds several plans; name one strategy when you make it");
    if (plan.value("schema", "") != "hetsort.plan/1") throw RequestError(path + ": is no hetsort.plan/1");
    for (const Json& node : plan.at("nodes")) {
      shares.names.push_back(node.at("name").get<std::string>());
      shares.records.push_back(records_in(node, "records", path));
      if (node.contains("input")) shares.input.push_back(records_in(node, "input", path));
    }
  } catch (const Json::exception& error) {
    throw RequestError(fmt::format("{}: is no plan in JSON: {}", path, printable(error.what())));
  }
  if (shares.input.size() != shares.records.size()) shares.input.clear();
  return shares;
}

}  // namespace hetsort::job
