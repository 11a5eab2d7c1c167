// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/learning.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

#include "partition/error.h"

namespace hetsort::partition {
namespace {

/// One more measurement for a point, the count bounded: old ones fade.
void update(CurvePoint& point, double records, double seconds, double most_count) {
  const double scaled = seconds * (point.records / records);  // the sizes differ by a per cent at most
  const double kept = std::min(point.count, most_count - 1);
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

double relative_half_width(std::span<const double> samples) {
  constexpr double kUpperTail = 0.975;
  if (samples.size() < 2) return 1;
  const auto count = static_cast<double>(samples.size());
  const double mean = std::accumulate(samples.begin(), samples.end(), 0.0) / count;
  double squares = 0;
  for (const double one : samples) squares += (one - mean) * (one - mean);
  if (squares == 0) return 0;
  const double quantile = boost::math::quantile(boost::math::students_t(count - 1), kUpperTail);
  return quantile * std::sqrt(squares / (count - 1) / count) / mean;
}

bool enough_repetitions(std::span<const double> seconds) {
  constexpr std::size_t kFewest = 5;
  constexpr double kWidth = 0.025;
  return seconds.size() > kFewest && relative_half_width(seconds.subspan(1)) <= kWidth;
}

const NodeCurve* CurveLearner::find(std::string_view node) const {
  const auto found = std::find_if(curves_.begin(), curves_.end(), [&](const NodeCurve& c) { return c.name == node; });
  return found != curves_.end() && !found->points.empty() ? &*found : nullptr;
}

CurveLearner::Outcome CurveLearner::record(std::string_view node, double records, double seconds) {
  require_speed(records, "measurement: the number of records");
  require_speed(seconds, "measurement: the seconds");
  Outcome outcome;
  if (const NodeCurve* known = find(node)) {
    outcome.expected_seconds = fit_curve(known->points, options_.fit)->value(records);
    const double least = known->points.front().records / 2;
    const double most = known->points.back().records * 2;
    const double factor = seconds / outcome.expected_seconds;
    outcome.drifted =
        records >= least && records <= most && (factor > options_.drift_factor || factor < 1 / options_.drift_factor);
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
    update(*near, records, seconds, options_.most_count);
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
