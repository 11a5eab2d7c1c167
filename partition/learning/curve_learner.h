// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The curves of all nodes, which grow with every measurement and become the costs of a problem.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "../problem.h"
#include "curve.h"
#include "curve_fit.h"

namespace hetsort::partition {

struct LearningOptions {
  CurveFit fit = CurveFit::kSmoothed;
  /// Sizes whose relative difference is below this are one point.
  double merge_width = 0.01;
  /// A point weighs as many measurements as it holds, but at most this number, so that a slow change is followed: one
  /// measurement moves a mean by at least 1 / max_count of the difference.
  double max_count = 64;
  /// A measurement above this multiple of the curve, or below its reciprocal, is flagged as drift. The node's points
  /// then count as one measurement each, so that new ones soon outweigh them.
  double drift_factor = 1.5;
};

class CurveLearner {
 public:
  struct Outcome {
    double expected_seconds = 0;  ///< seconds by the curve before this measurement; 0 when there was none
    bool drifted = false;
  };

  explicit CurveLearner(LearningOptions options = {}) : options_(options) {}
  explicit CurveLearner(std::vector<NodeCurve> curves, LearningOptions options = {})
      : options_(options), curves_(std::move(curves)) {}

  /// Adds one measurement. Drift is judged between half the smallest and twice the largest size seen.
  /// Throws: PlanError unless both numbers are finite and above zero. Complexity: O(q).
  Outcome record(std::string_view node, double records, double seconds);

  const std::vector<NodeCurve>& curves() const { return curves_; }

  /// Sets `measured` of every node whose curve is known: from its own points when each node of the problem has
  /// points, else from all points together, scaled by the speeds (cost of n = seconds times speed). With
  /// `share_shape` all points together are used whenever all speeds are known. Leaves it null where nothing is known.
  void apply(Problem& problem, bool share_shape = false) const;

 private:
  const NodeCurve* find(std::string_view node) const;

  LearningOptions options_;
  std::vector<NodeCurve> curves_;
};

}  // namespace hetsort::partition
