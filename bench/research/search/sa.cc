// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// sa: simulated annealing (Nakazawa 2005, 4.3.4). A step takes a random number of records from the node with the
// largest cost and gives them to the others, more to those with small costs. It is kept if the time F falls, and
// otherwise with probability e^((F - F') / T) (4.1; T stands for K_B T). Line 6 of Fig. 4.4 has its comparison
// reversed: a lower time is better. T falls after a number of steps; if none of them has brought a shorter time, the
// slowest node gives away all it has, and T begins anew. It stops when 8 such restarts bring nothing better, or when
// the time is over.
#include <algorithm>
#include <cmath>

#include "bench/research/search/best_plan.h"

namespace hetsort::research {
namespace {

constexpr int kSteps = 200;                // steps at one temperature
constexpr int kTemperatures = 40;          // temperatures until a restart
constexpr double kCooling = 0.8;           // 0.8^40 is about 1e-4
constexpr double kFirstTemperature = 0.1;  // fraction of the first time: a tenth more is then often kept
constexpr int kRestartsWithoutGain = 8;

using Records = std::vector<std::int64_t>;

class Annealing {
 public:
  explicit Annealing(BestPlan& plan, std::int64_t records)
      : plan_(plan), records_(records), shares_(plan.random_shares()), seconds_(plan.judge(shares_)), best_(seconds_) {}

  double best() const { return best_; }

  /// Makes the steps of one temperature. Returns whether they found a shorter time than before.
  bool steps(double temperature) {
    const double before = best_;
    for (int i = 0; i < kSteps && !plan_.time_is_over(); ++i) {
      Records changed = given_away(plan_.uniform());
      const double seconds = plan_.judge(changed);
      if (seconds > seconds_ && std::exp((seconds_ - seconds) / temperature) <= plan_.uniform()) continue;
      accept(std::move(changed), seconds);
    }
    return best_ < before;
  }

  void restart() {
    Records changed = given_away(1);
    const double seconds = plan_.judge(changed);
    accept(std::move(changed), seconds);
  }

 private:
  void accept(Records shares, double seconds) {
    shares_ = std::move(shares);
    seconds_ = seconds;
    best_ = std::min(best_, seconds);
  }

  /// The shares after the slowest node has given away at most this part of its records.
  Records given_away(double part) {
    std::vector<double> costs(shares_.size());
    for (std::size_t i = 0; i < costs.size(); ++i) costs[i] = plan_.cost(i, shares_[i]);
    const auto slowest = static_cast<std::size_t>(std::ranges::max_element(costs) - costs.begin());
    const double given = std::max(1.0, std::floor(part * static_cast<double>(shares_[slowest])));
    double weights = 0;
    for (const double cost : costs) weights += costs[slowest] - cost;
    if (!(weights > 0) || !std::isfinite(weights)) return plan_.random_shares();
    std::vector<double> wanted(shares_.begin(), shares_.end());
    for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] += given * (costs[slowest] - costs[i]) / weights;
    wanted[slowest] = std::max(0.0, wanted[slowest] - given);
    return whole_shares(plan_, std::move(wanted), records_);
  }

  BestPlan& plan_;
  std::int64_t records_;
  Records shares_;
  double seconds_;
  double best_;
};

partition::Shares sa_shares(const partition::Problem& problem, double seconds) {
  BestPlan best(problem, seconds);
  Annealing annealing(best, problem.records);
  const double first = kFirstTemperature * annealing.best();
  for (int idle = 0; idle < kRestartsWithoutGain && !best.time_is_over(); ++idle) {
    double temperature = first;
    for (int i = 0; i < kTemperatures && !best.time_is_over(); ++i) {
      if (annealing.steps(temperature)) idle = -1;
      temperature *= kCooling;
    }
    annealing.restart();
  }
  return best.answer();
}

}  // namespace

extern const partition::Strategy sa_strategy{.name = "sa",
                                             .parameter = "SECONDS",
                                             .summary = "simulated annealing; sees waiting",
                                             .share = sa_shares,
                                             .slow = slow_search,
                                             .usual_parameter = kSearchSeconds};

}  // namespace hetsort::research
