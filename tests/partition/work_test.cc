// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The work of every planner is bounded by the number of nodes, whatever the number of records. Evaluations of cost
// functions are counted instead of seconds, so that a slow machine does not fail the test.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "partition/error.h"
#include "partition/learning.h"
#include "partition/plan.h"
#include "partition/rounding.h"
#include "partition/scatter.h"
#include "partition/threshold.h"
#include "tests/partition/problems.h"

namespace hetsort::partition::test {
namespace {

/// Thrown when a planner evaluates cost functions more often than it may.
struct TooMuchWork {};

struct WorkCounter {
  std::int64_t evaluations = 0;
  std::int64_t limit = 0;

  void count() {
    if (++evaluations > limit) throw TooMuchWork();
  }
};

/// Another cost function whose evaluations are counted.
class CountedCost final : public CostFunction {
 public:
  CountedCost(CostPtr cost, std::shared_ptr<WorkCounter> counter)
      : cost_(std::move(cost)), counter_(std::move(counter)) {}
  double value(double records) const override {
    counter_->count();
    return cost_->value(records);
  }
  double inverse(double cost) const override {
    counter_->count();
    return cost_->inverse(cost);
  }
  std::optional<double> derivative(double records) const override {
    counter_->count();
    return cost_->derivative(records);
  }
  bool non_decreasing() const override { return cost_->non_decreasing(); }
  std::optional<AffineForm> affine() const override { return cost_->affine(); }
  bool is_plain_nlogn() const override { return cost_->is_plain_nlogn(); }

 private:
  CostPtr cost_;
  std::shared_ptr<WorkCounter> counter_;
};

/// exp(u) for u uniform between the logarithms of `low` and `high`.
double magnitude(std::mt19937_64& random, double low, double high) {
  return std::exp(std::uniform_real_distribution<double>(std::log(low), std::log(high))(random));
}

/// A curve learned from measurements that fall down to 1e-9 s, as a broken clock gives them.
CostPtr learned_curve(std::mt19937_64& random) {
  std::vector<CurvePoint> points(1 + random() % 6);
  for (CurvePoint& point : points)
    point = {magnitude(random, 1, 1e18), magnitude(random, 1e-9, 1e9), 1 + static_cast<double>(random() % 5), 0};
  return fit_curve(points, random() % 2 == 0 ? CurveFit::kSmoothed : CurveFit::kPaper2006);
}

/// A table that is flat, rises by less than a double resolves, or falls.
CostPtr odd_table(std::mt19937_64& random) {
  std::vector<CostPoint> points;
  double records = 0;
  double cost = magnitude(random, 1e-12, 1e12);
  for (std::uint64_t i = 1 + random() % 4; i > 0; --i) {
    records = std::max(2 * records, magnitude(random, 1, 1e18));
    points.push_back({records, cost});
    const std::uint64_t next = random() % 4;
    if (next == 0) cost = std::nextafter(cost, 1e300);
    if (next == 1) cost *= 2;
    if (next == 2 && random() % 4 == 0) cost /= 1e6;
  }
  return table_cost(std::move(points));
}

CostPtr extreme_cost(std::mt19937_64& random) {
  const double scale = magnitude(random, 1e-300, 1e280);
  switch (random() % 9) {
    case 0:
      return linear_cost(scale);
    case 1:
      return affine_cost({magnitude(random, 1e-300, 1e300), scale});
    case 2:
      return nlogn_cost({scale, random() % 2 == 0 ? 0.0 : magnitude(random, 1e-9, 1e9), magnitude(random, 1e-9, 1e9)});
    case 3:
      return power_cost(scale, magnitude(random, 0.001, 5));
    case 4:
      return odd_table(random);
    case 5:
      return step_cost({random() % 2 == 0 ? 0.0 : scale, magnitude(random, 1, 1e18), magnitude(random, 1e-9, 1e9)});
    case 6:
      return custom_cost([scale](double n) { return scale * std::sqrt(n); }, true);
    case 7:
      return linear_cost(0);
    default:
      return learned_curve(random);
  }
}

std::int64_t many_records(std::mt19937_64& random, double min_records) {
  switch (random() % 4) {
    case 0:
      return std::int64_t{1} << 61;
    case 1:
      return std::int64_t{1} << 62;
    case 2:
      return std::numeric_limits<std::int64_t>::max() - static_cast<std::int64_t>(random() % 3);
    default:
      return static_cast<std::int64_t>(magnitude(random, min_records, 9e18));
  }
}

constexpr std::int64_t kMaxEvaluationsPerNode = 20'000;

/// Nodes with extreme costs, speeds, and limits that can hold the records; `lines`: straight lines only.
Problem extreme_problem(std::mt19937_64& random, const Strategy& strategy, bool lines) {
  const bool scatter = strategy.kind == Strategy::Kind::kScatter;
  Problem problem;
  const bool by_records = strategy.name == "scatter-dp" || strategy.name == "scatter-exact";
  problem.records = many_records(random, by_records ? 1e10 : 1);
  problem.nodes.resize(1 + random() % 9);
  const auto counter = std::make_shared<WorkCounter>();
  counter->limit = kMaxEvaluationsPerNode * static_cast<std::int64_t>(problem.nodes.size());
  const double spread = random() % 2 == 0 ? 1e9 : 1e300;
  const auto cost = [&]() -> CostPtr {
    if (lines) return linear_cost(magnitude(random, 1 / spread, spread));
    return std::make_shared<CountedCost>(extreme_cost(random), counter);
  };
  const CostPtr alike = cost();
  const bool limited = random() % 2 == 0;
  const std::int64_t part = (problem.records - 1) / static_cast<std::int64_t>(problem.nodes.size()) + 1;
  const std::int64_t room = (kNoCap - part) / 2;
  for (ProblemNode& node : problem.nodes) {
    node.name = "n";
    node.speed = random() % 2 == 0 ? 1.0 : magnitude(random, 1e-280, 1e280);
    node.compute = random() % 2 == 0 ? alike : cost();
    node.measured = std::make_shared<CountedCost>(learned_curve(random), counter);
    if (scatter) node.receive = cost();
    if (!limited) continue;
    node.max_records =
        room < 2 ? part : part + static_cast<std::int64_t>(magnitude(random, 1, static_cast<double>(room)));
    node.min_records =
        random() % 2 == 0 ? 0 : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(part)) / 2;
  }
  return scatter ? arrange_scatter(std::move(problem), 0, SendingOrder::kBandwidth) : problem;
}

class PlanningWork : public ::testing::TestWithParam<const Strategy*> {};

// The two programs over single records refuse what would take them long. A search takes as long as the user says; its
// tests are in search_test.cc.
TEST_P(PlanningWork, depends_on_the_nodes_and_not_on_the_records) {
  const Strategy& strategy = *GetParam();
  const int rounds = strategy.name == "dp" ? 2 : 500;  // dp takes half a second whatever the problem
  Seeded random(test_seed());
  int planned = 0;
  for (int round = 0; round < rounds; ++round) {
    const Problem problem = extreme_problem(random.engine, strategy, round % 4 == 3);
    const double parameter = strategy.default_parameter ? strategy.default_parameter(problem) : 0;
    try {
      const Plan plan = make_plan(problem, StrategyChoice{&strategy, parameter, std::string(strategy.name)});
      ASSERT_EQ(sum_of(shares_of(plan)), problem.records) << random.note << " round " << round;
      ++planned;
    } catch (const PlanError& error) {  // it does not apply, or says that it would take too long
      ASSERT_EQ(std::string_view(error.what()).find("instead of"), std::string_view::npos)
          << random.note << " round " << round << ": " << error.what();
    } catch (const TooMuchWork&) {
      ADD_FAILURE() << random.note << " round " << round << ": too many evaluations";
      return;
    } catch (const std::exception& error) {
      ADD_FAILURE() << random.note << " round " << round << ": " << error.what();
      return;
    }
  }
  RecordProperty("planned", planned);
}

INSTANTIATE_TEST_SUITE_P(All, PlanningWork, ::testing::ValuesIn(all_strategies()), testing::PrintToStringParamName());

}  // namespace
}  // namespace hetsort::partition::test
