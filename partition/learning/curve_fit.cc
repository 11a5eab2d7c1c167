// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Smoothing: minimise over the values g at the points x = ln n, y = ln seconds
//   sum_j count_j (y_j - g_j)^2 / noise^2 + sum_j (change of slope at j)^2 / (slope_change^2 h_j),
// that is, the slope is a random walk whose variance is slope_change^2 for each unit of ln n. Straight lines in the
// log-log plane (power functions) cost nothing, and the noise decides how far the curve may leave them. The matrix has
// five diagonals: O(q).
#include "partition/learning/curve_fit.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <vector>

#include "partition/cost/error.h"
#include "partition/cost/measured_costs.h"
#include "partition/cost/parameter.h"

namespace hetsort::partition {
namespace {

constexpr double kMinNoise = 1e-3;      // relative: no clock and no machine is better
constexpr double kDefaultNoise = 0.02;  // relative, while there are too few points to estimate it
constexpr double kSlopeChange = 0.1;    // change of the log-log slope for a factor e in size; below 0.02 for n ln n

struct LogPoint {
  double x = 0;
  double y = 0;
  double weight = 0;  // number of measurements
};

void check(std::span<const CurvePoint> points) {
  if (points.empty()) throw PlanError("a curve needs at least one point");
  for (const CurvePoint& point : points) {
    require_positive(point.records, "curve: the number of records of a point");
    require_positive(point.seconds, "curve: the seconds of a point");
    require_positive(point.count, "curve: the count of a point");
    require_parameter(point.variance, "curve: the variance of a point");
  }
}

/// Points in ascending size. Those within `width` of the first of a group become one, at their weighted means.
std::vector<CurvePoint> merged(std::span<const CurvePoint> points, double width) {
  std::vector<CurvePoint> sorted(points.begin(), points.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const CurvePoint& a, const CurvePoint& b) { return a.records < b.records; });
  std::vector<CurvePoint> groups;
  double first = 0;
  for (const CurvePoint& point : sorted) {
    if (groups.empty() || point.records > first * (1 + width)) {
      groups.push_back(point);
      first = point.records;
      continue;
    }
    CurvePoint& group = groups.back();
    const double count = group.count + point.count;
    const double part = point.count / count;
    const double between = (point.seconds / point.records - group.seconds / group.records) * group.records;
    group.variance = std::lerp(group.variance, point.variance, part) + part * (1 - part) * between * between;
    const double rate = std::lerp(group.seconds / group.records, point.seconds / point.records, part);
    group.records = std::lerp(group.records, point.records, part);
    group.seconds = rate * group.records;
    group.count = count;
  }
  return groups;
}

/// The relative noise of one measurement: from repeated sizes; else from the distance of points to the line between
/// their neighbours (a median, so that steps of the curve do not count as noise); else a default.
double relative_noise(const std::vector<CurvePoint>& points, const std::vector<LogPoint>& logs) {
  double freedom = 0;
  double squares = 0;
  for (const CurvePoint& point : points) {
    freedom += point.count - 1;
    squares += point.count * point.variance / (point.seconds * point.seconds);
  }
  constexpr double kEnoughRepeats = 5;
  if (freedom >= kEnoughRepeats) return std::max(kMinNoise, std::sqrt(squares / freedom));
  constexpr std::size_t kEnoughPoints = 5;
  if (logs.size() < kEnoughPoints) return kDefaultNoise;
  std::vector<double> residuals;
  for (std::size_t i = 1; i + 1 < logs.size(); ++i) {
    const double a = (logs[i + 1].x - logs[i].x) / (logs[i + 1].x - logs[i - 1].x);
    const double off = logs[i].y - a * logs[i - 1].y - (1 - a) * logs[i + 1].y;
    const double variance = 1 / logs[i].weight + a * a / logs[i - 1].weight + (1 - a) * (1 - a) / logs[i + 1].weight;
    residuals.push_back(off * off / variance);
  }
  std::nth_element(residuals.begin(), residuals.begin() + static_cast<std::ptrdiff_t>(residuals.size() / 2),
                   residuals.end());
  constexpr double kMedianOfChiSquare = 0.455;
  return std::max(kMinNoise, std::sqrt(residuals[residuals.size() / 2] / kMedianOfChiSquare));
}

/// A symmetric positive definite matrix of five diagonals: diagonal[i][k] is the element (i, i + k).
using Banded = std::vector<std::array<double, 3>>;

/// Solves matrix g = right in place, by L D L^T.
void solve(Banded& matrix, std::vector<double>& right) {
  const std::size_t size = right.size();
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t k = 1; k <= 2 && i + k < size; ++k) {
      const double factor = matrix[i][k] / matrix[i][0];
      for (std::size_t m = k; m <= 2; ++m) matrix[i + k][m - k] -= factor * matrix[i][m];
      right[i + k] -= factor * right[i];
    }
  }
  for (std::size_t i = size; i-- > 0;) {
    for (std::size_t k = 1; k <= 2 && i + k < size; ++k) right[i] -= matrix[i][k] * right[i + k];
    right[i] /= matrix[i][0];
  }
}

std::vector<double> smooth(const std::vector<LogPoint>& points, double noise) {
  Banded matrix(points.size(), std::array<double, 3>{});
  std::vector<double> right(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    matrix[i][0] = points[i].weight;
    right[i] = points[i].weight * points[i].y;
  }
  const double trade = noise * noise / (kSlopeChange * kSlopeChange);
  for (std::size_t i = 1; i + 1 < points.size(); ++i) {
    const double left = points[i].x - points[i - 1].x;
    const double ahead = points[i + 1].x - points[i].x;
    const std::array<double, 3> change{1 / left, -1 / left - 1 / ahead, 1 / ahead};
    const double scale = trade / ((left + ahead) / 2);
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = a; b < 3; ++b) matrix[i - 1 + a][b - a] += scale * change[a] * change[b];
  }
  solve(matrix, right);
  return right;
}

/// Weighted isotonic regression: pool adjacent violators.
void make_rising(std::vector<CostPoint>& points, const std::vector<double>& weights) {
  struct Block {
    double cost, weight;
    std::size_t count;
  };
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < points.size(); ++i) {
    blocks.push_back({points[i].cost, weights[i], 1});
    while (blocks.size() > 1 && blocks[blocks.size() - 2].cost > blocks.back().cost) {
      const Block last = blocks.back();
      blocks.pop_back();
      Block& before = blocks.back();
      before.cost = (before.cost * before.weight + last.cost * last.weight) / (before.weight + last.weight);
      before.weight += last.weight;
      before.count += last.count;
    }
  }
  std::size_t i = 0;
  for (const Block& block : blocks)
    for (std::size_t k = 0; k < block.count; ++k) points[i++].cost = block.cost;
}

}  // namespace

CostPtr fit_curve(std::span<const CurvePoint> points, CurveFit fit) {
  assert(!points.empty());
  check(points);
  constexpr double kSameSize = 1e-9;  // only equal sizes: the paper merges no others
  constexpr double kNear = 0.01;
  const std::vector<CurvePoint> groups = merged(points, fit == CurveFit::kPaper2006 ? kSameSize : kNear);
  std::vector<CostPoint> curve;
  std::vector<double> weights;
  for (const CurvePoint& group : groups) {
    curve.push_back({group.records, group.seconds});
    weights.push_back(group.count);
  }
  if (fit == CurveFit::kSmoothed) {
    std::vector<LogPoint> logs;
    logs.reserve(groups.size());
    for (const CurvePoint& group : groups)
      logs.push_back({std::log(group.records), std::log(group.seconds), group.count});
    const std::vector<double> smoothed = smooth(logs, relative_noise(groups, logs));
    for (std::size_t i = 0; i < curve.size(); ++i) curve[i].cost = std::exp(smoothed[i]);
  }
  make_rising(curve, weights);
  if (fit == CurveFit::kPaper2006) {  // the linear guess: the last point's ratio up to any number of records
    constexpr double kFar = 1e19;
    const CostPoint last = curve.back();
    if (last.records < kFar) curve.push_back({kFar, last.cost * (kFar / last.records)});
  }
  return table_cost(std::move(curve));
}

}  // namespace hetsort::partition
