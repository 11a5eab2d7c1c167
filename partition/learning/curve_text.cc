// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/learning/curve_text.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "partition/cost/error.h"

namespace hetsort::partition {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSchema = "hetsort.curves/1";
constexpr std::size_t kMaxTextBytes = std::size_t{64} << 20;
constexpr int kMaxDepth = 5;

[[noreturn]] void fail(std::string_view source, const std::string& message) {
  throw PlanError(fmt::format("{}: {}", source, message));
}

Json parse(std::string_view text, std::string_view source) {
  if (text.size() > kMaxTextBytes) fail(source, fmt::format("more than {} bytes", kMaxTextBytes));
  const auto shallow = [&](int depth, Json::parse_event_t, Json&) {
    if (depth > kMaxDepth) fail(source, "nested too deeply for curves");
    return true;
  };
  try {
    return Json::parse(text, shallow);
  } catch (const Json::parse_error& error) {
    fail(source, fmt::format("no JSON at byte {}", error.byte));
  } catch (const Json::exception& error) {
    fail(source, error.what());
  }
}

double number(const Json& value, std::string_view source, std::string_view node) {
  if (!value.is_number()) fail(source, fmt::format("node '{}': a point must be four numbers", node));
  const auto real = value.get<double>();
  if (!std::isfinite(real)) fail(source, fmt::format("node '{}': a number of a point is not finite", node));
  return real;
}

CurvePoint read_point(const Json& value, std::string_view source, std::string_view node) {
  if (!value.is_array() || value.size() != 4)
    fail(source, fmt::format("node '{}': a point must be [records, seconds, count, variance]", node));
  const CurvePoint point{number(value[0], source, node), number(value[1], source, node), number(value[2], source, node),
                         number(value[3], source, node)};
  if (!(point.records > 0 && point.seconds > 0 && point.count >= 1 && point.variance >= 0))
    fail(source,
         fmt::format("node '{}': records and seconds must be above zero, count at least 1, variance not negative",
                     node));
  return point;
}

NodeCurve read_node(const Json& value, std::string_view source) {
  if (!value.is_object() || !value.contains("name") || !value["name"].is_string() || !value.contains("points") ||
      !value["points"].is_array() || value.size() != 2)
    fail(source, "a node must have a name and points, and nothing else");
  NodeCurve curve{value["name"].get<std::string>(), {}};
  for (const Json& point : value["points"]) {
    curve.points.push_back(read_point(point, source, curve.name));
    const std::size_t count = curve.points.size();
    if (count > 1 && !(curve.points[count - 2].records < curve.points[count - 1].records))
      fail(source, fmt::format("node '{}': points must stand in ascending records", curve.name));
  }
  return curve;
}

}  // namespace

std::string save_curves(std::span<const NodeCurve> curves) {
  Json json{{"schema", kSchema}};
  Json& nodes = json["nodes"] = Json::array();
  for (const NodeCurve& curve : curves) {
    Json points = Json::array();
    for (const CurvePoint& point : curve.points)
      points.push_back({point.records, point.seconds, point.count, point.variance});
    nodes.push_back({{"name", curve.name}, {"points", std::move(points)}});
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<NodeCurve> load_curves(std::string_view text, std::string_view source_name) {
  const Json json = parse(text, source_name);
  if (!json.is_object() || !json.contains("schema") || json["schema"] != kSchema)
    fail(source_name, fmt::format("its schema is not {}", kSchema));
  if (json.size() != 2 || !json.contains("nodes") || !json["nodes"].is_array())
    fail(source_name, "it must have the list 'nodes' and nothing else");
  std::vector<NodeCurve> curves;
  for (const Json& node : json["nodes"]) curves.push_back(read_node(node, source_name));
  return curves;
}

}  // namespace hetsort::partition
