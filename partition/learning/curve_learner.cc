// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/learning/curve_learner.h"

#include <algorithm>
#include <string>

#include "partition/cost/formula_costs.h"
#include "partition/cost/parameter.h"

namespace hetsort::partition {
namespace {

/// Adds one measurement to a point. The count is bounded, so that old measurements fade.
void update(CurvePoint& point, double records, double seconds, double max_count) {
  const double scaled = seconds * (point.records / records);  // the sizes differ by at most 1 %
  const double kept = std::min(point.count, max_count - 1);
  const double part = 1 / (kept + 1);
  const double off = scaled - point.seconds;
  point.variance = (1 - part) * (point.variance + part * off * off);
  point.seconds += part * off;
  point.count = kept + 1;
}

bool all_speeds_known(const Problem& problem) {
  return std::all_of(problem.nodes.begin(), problem.nodes.end(),
                     [](const ProblemNode& node) { return node.speed.has_value(); });
}

}  // namespace

const NodeCurve* CurveLearner::find(std::string_view node) const {
  const auto found = std::find_if(curves_.begin(), curves_.end(), [&](const NodeCurve& c) { return c.name == node; });
  return found != curves_.end() && !found->points.empty() ? &*found : nullptr;
}

CurveLearner::Outcome CurveLearner::record(std::string_view node, double records, double seconds) {
  require_positive(records, "measurement: the number of records");
  require_positive(seconds, "measurement: the seconds");
  Outcome outcome;
  if (const NodeCurve* known = find(node)) {
    outcome.expected_seconds = fit_curve(known->points, options_.fit)->value(records);
    const double min_records = known->points.front().records / 2;
    const double max_records = known->points.back().records * 2;
    const double factor = seconds / outcome.expected_seconds;
    outcome.drifted = records >= min_records && records <= max_records &&
                      (factor > options_.drift_factor || factor < 1 / options_.drift_factor);
  }
  auto curve = std::find_if(curves_.begin(), curves_.end(), [&](const NodeCurve& c) { return c.name == node; });
  if (curve == curves_.end()) curve = curves_.insert(curve, NodeCurve{std::string(node), {}});
  std::vector<CurvePoint>& points = curve->points;
  if (outcome.drifted)
    for (CurvePoint& point : points) point.count = 1, point.variance = 0;

  const double width = 1 + options_.merge_width;
  const auto near = std::find_if(points.begin(), points.end(), [&](const CurvePoint& point) {
    return records <= point.records * width && point.records <= records * width;
  });
  if (near != points.end()) {
    update(*near, records, seconds, options_.max_count);
    return outcome;
  }
  const auto after =
      std::find_if(points.begin(), points.end(), [&](const CurvePoint& point) { return point.records > records; });
  points.insert(after, CurvePoint{records, seconds, 1, 0});
  return outcome;
}

void CurveLearner::apply(Problem& problem, bool share_shape) const {
  const bool own = std::all_of(problem.nodes.begin(), problem.nodes.end(),
                               [&](const ProblemNode& node) { return find(node.name) != nullptr; });
  const bool speeds = all_speeds_known(problem);
  if (own && !(share_shape && speeds)) {
    for (ProblemNode& node : problem.nodes) node.measured = fit_curve(find(node.name)->points, options_.fit);
    return;
  }
  if (!speeds) return;
  std::vector<CurvePoint> all;
  for (const ProblemNode& node : problem.nodes) {
    const NodeCurve* curve = find(node.name);
    if (!curve) continue;
    for (CurvePoint point : curve->points) {
      point.seconds *= *node.speed;
      point.variance *= *node.speed * *node.speed;
      all.push_back(point);
    }
  }
  if (all.empty()) return;
  const CostPtr shape = fit_curve(all, options_.fit);
  for (ProblemNode& node : problem.nodes) node.measured = scaled_cost(shape, *node.speed);
}

}  // namespace hetsort::partition
