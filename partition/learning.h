// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Cost curves learned from measurements (Cerin, Dubacq, Roch 2006, section 3.3, and a better fit as the default).
//
// A curve is a list of points: at about n records, the mean seconds of `count` measurements and their variance. New
// measurements update the points with a bounded weight; a fit turns points into a cost function; the strategy
// "learned" plans with it. No files here: save_curves and load_curves work on text.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "problem.h"

namespace hetsort::partition {

struct CurvePoint {
  double records = 0;
  double seconds = 0;   ///< mean of the measurements
  double count = 0;     ///< how many, at least 1
  double variance = 0;  ///< of one measurement, in seconds squared
};

struct NodeCurve {
  std::string name;
  std::vector<CurvePoint> points;  ///< ascending records
};

enum class CurveFit {
  /// Default: the relative noise is estimated, the curve is smoothed in (ln n, ln seconds) as far as that noise calls
  /// for, and made non-decreasing by weighted isotonic regression (pool adjacent violators). Above the last point its
  /// n ln n ratio holds, below the first a straight line to zero.
  kSmoothed,
  /// The paper's: straight lines between the points' means, neighbours that contradict each other replaced by their
  /// weighted mean, above the last point its linear ratio.
  kPaper2006,
};

/// Requires: at least one point, numbers finite, records, seconds and count above zero.
/// Complexity: O(q log q). Throws: PlanError when a number is out of range.
CostPtr fit_curve(std::span<const CurvePoint> points, CurveFit fit = CurveFit::kSmoothed);

struct LearningOptions {
  CurveFit fit = CurveFit::kSmoothed;
  /// Sizes nearer than this part of each other are one point.
  double merge_width = 0.01;
  /// A point weighs no more than so many measurements, so that a slow change is followed: an update moves a mean by
  /// at least 1 / most_count of the difference and, once measured often, by no more.
  double most_count = 64;
  /// A measurement above this multiple of what the curve says, or below its reciprocal, is flagged as drift; the node's
  /// points then count as one measurement each, so that new ones soon outweigh them.
  double drift_factor = 1.5;
};

/// The rule for how often to measure one size: drop the first sample (caches are cold), take at least five more, stop
/// when the half-width of the Student-t 95 % interval is within 2.5 % of the mean. True when `seconds`, in the order
/// they were measured and with the first, are enough. Complexity: O(samples).
bool enough_repetitions(std::span<const double> seconds);

/// Half-width of the Student-t 95 % interval of the mean, as a part of the mean; 1 with fewer than two samples.
/// Requires: a mean above zero. Complexity: O(samples).
double relative_half_width(std::span<const double> samples);

class CurveLearner {
 public:
  struct Outcome {
    double expected_seconds = 0;  ///< what the curve said before; 0 when it could say nothing
    bool drifted = false;
  };

  explicit CurveLearner(LearningOptions options = {}) : options_(options) {}
  explicit CurveLearner(std::vector<NodeCurve> curves, LearningOptions options = {})
      : options_(options), curves_(std::move(curves)) {}

  /// Takes in one measurement. Drift is judged between half the smallest and twice the largest size seen.
  /// Throws: PlanError unless both numbers are finite and above zero. Complexity: O(q).
  Outcome record(std::string_view node, double records, double seconds);

  const std::vector<NodeCurve>& curves() const { return curves_; }

  /// Sets `measured` of every node whose curve can be told: from its own points when each node of the problem has
  /// points, else from all points together, scaled by the speeds (cost of n = seconds times speed). With
  /// `share_shape` the latter whenever all speeds are known. Leaves it null where nothing is known.
  void apply(Problem& problem, bool share_shape = false) const;

 private:
  const NodeCurve* find(std::string_view node) const;

  LearningOptions options_;
  std::vector<NodeCurve> curves_;
};

/// "hetsort.curves/1" as JSON text.
std::string save_curves(std::span<const NodeCurve> curves);

/// Throws: PlanError, naming `source_name`, for anything that save_curves would not write: syntax, another schema,
/// numbers out of range, more than 64 MiB of text.
std::vector<NodeCurve> load_curves(std::string_view text, std::string_view source_name);

}  // namespace hetsort::partition
