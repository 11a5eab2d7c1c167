// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/calibrate/fit_exchange.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "partition/run/predict_run.h"

namespace hetsort::sort {

namespace {

// Of the search: in, out, the unexplained part of the shortest exchange, and by how much links take longer.
using Point = std::array<double, 4>;

constexpr double kMaxMessage = 1;  // a byte costs as much as merging a record
constexpr double kMaxUnexplained = 0.5;
constexpr double kMaxLinks = 1;          // they take twice as long
constexpr double kFirstStep = 1.0 / 16;  // fraction of the range of each number
constexpr double kLastStep = 1e-5;
constexpr double kEnough = 1e-12;  // a smaller gain is rounding

/// The square of small differences, and a line for large ones.
double huber(double predicted, double measured) {
  constexpr double kSmall = 0.1;
  const double difference = std::abs(std::log(std::max(1e-12, predicted) / measured));
  return difference < kSmall ? difference * difference : kSmall * (2 * difference - kSmall);
}

class Fit {
 public:
  Fit(partition::RunModel model, std::span<const MeasuredExchange> exchanges)
      : model_(std::move(model)), processors_(model_), exchanges_(exchanges) {
    processors_.shared = {};
    for (partition::RankResources& rank : processors_.ranks) rank.rates = {};
    shortest_ = exchanges.front().seconds;
    for (const MeasuredExchange& one : exchanges) shortest_ = std::min(shortest_, one.seconds);
  }

  FittedCosts fit_at(const Point& point) const { return {point[0], point[1], point[2] * shortest_, 1 + point[3]}; }

  double error(const Point& point) {
    // Costs that change no prediction are 0, and those that change predictions by less than chance nearly so.
    constexpr double kPrice = 1e-4;
    const FittedCosts fit = fit_at(point);
    FittedCosts change = fit;
    change.links /= std::exchange(links_, fit.links);
    use_fit(model_, change);
    use_fit(processors_, change);
    double error = kPrice * std::accumulate(point.begin(), point.end(), 0.0);
    for (const MeasuredExchange& one : exchanges_) {
      const double seconds = partition::predict_run(model_, one.input, one.output).exchange_seconds;
      error += huber(fit.unexplained_seconds + seconds, one.seconds) + processor_error(one);
    }
    return error;
  }

 private:
  /// The mean over the ranks whose processor time is known.
  double processor_error(const MeasuredExchange& one) const {
    const partition::RunPrediction run = partition::predict_run(processors_, one.input, one.output);
    double sum = 0;
    double known = 0;
    for (std::size_t rank = 0; rank < one.processor.size(); ++rank) {
      if (!(one.processor[rank] > 0)) continue;
      sum += huber(run.exchange[rank].seconds, one.processor[rank]);
      ++known;
    }
    return known > 0 ? sum / known : 0;
  }

  partition::RunModel model_;
  partition::RunModel processors_;  // the same without links and disks
  std::span<const MeasuredExchange> exchanges_;
  double shortest_ = 0;
  double links_ = 1;  // of model_
};

/// Steps along the axes and the diagonals between two of them: the error has edges, along which no single number can
/// improve it.
std::vector<Point> directions() {
  std::vector<Point> all;
  for (std::size_t axis = 0; axis < Point().size(); ++axis)
    for (const double sign : {-1.0, 1.0}) {
      Point one{};
      one[axis] = sign;
      all.push_back(one);
      for (std::size_t other = axis + 1; other < one.size(); ++other)
        for (const double other_sign : {-1.0, 1.0}) {
          Point two = one;
          two[other] = other_sign;
          all.push_back(two);
        }
    }
  return all;
}

/// The lowest error that steps from `best` lead to, and where.
std::pair<Point, double> descend(Fit& fit, Point best) {
  constexpr Point kMax{kMaxMessage, kMaxMessage, kMaxUnexplained, kMaxLinks};
  const std::vector<Point> all = directions();
  double least = fit.error(best);
  for (double step = kFirstStep; step > kLastStep; step /= 2) {
    for (bool better = true; better;) {
      better = false;
      for (const Point& direction : all) {
        Point next = best;
        for (std::size_t axis = 0; axis < next.size(); ++axis)
          next[axis] = std::clamp(next[axis] + step * kMax[axis] * direction[axis], 0.0, kMax[axis]);
        const double error = fit.error(next);
        if (error >= least - kEnough) continue;
        least = error;
        best = next;
        better = true;
      }
    }
  }
  return {best, least};
}

}  // namespace

void use_fit(partition::RunModel& model, const FittedCosts& fit) {
  const auto slow_down = [&](std::optional<double>& rate) {
    if (rate) *rate /= fit.links;
  };
  slow_down(model.shared.link);
  for (partition::RankResources& rank : model.ranks) {
    rank.message = {.in = fit.in * rank.merge_seconds, .out = fit.out * rank.merge_seconds};
    slow_down(rank.rates.link_in);
    slow_down(rank.rates.link_out);
  }
}

FittedCosts fit_exchange(partition::RunModel model, std::span<const MeasuredExchange> exchanges) {
  if (exchanges.empty()) return {};
  Fit fit(std::move(model), exchanges);
  Point best{};
  double least = fit.error(best);
  // Messages may seem to cost what links do, from where no small step leads away.
  for (const double links : {0.0, 0.4}) {
    const auto [point, error] = descend(fit, {0, 0, 0, links});
    if (error >= least - kEnough) continue;
    least = error;
    best = point;
  }
  return fit.fit_at(best);
}

}  // namespace hetsort::sort
