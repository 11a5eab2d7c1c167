// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/partition/problems.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "partition/scatter.h"

namespace hetsort::partition::test {
namespace {

double uniform(std::mt19937_64& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

std::int64_t whole(std::mt19937_64& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

CostPtr random_table(std::mt19937_64& random) {
  std::vector<CostPoint> points;
  double records = 0;
  double cost = 0;
  for (std::int64_t i = whole(random, 1, 5); i > 0; --i) {
    records += static_cast<double>(whole(random, 1, 20));
    cost += whole(random, 0, 3) == 0 ? 0.0 : uniform(random, 0, 30);  // some parts are flat
    points.push_back({records, cost});
  }
  return table_cost(std::move(points));
}

}  // namespace

Problem grid_2003(std::int64_t records) {
  Problem problem;
  problem.records = records;
  const auto add = [&](const char* name, double compute, double receive, int count = 1) {
    for (int i = 0; i < count; ++i) {
      ProblemNode node;
      node.name = name;
      node.compute = linear_cost(compute);
      node.receive = linear_cost(receive);
      problem.nodes.push_back(node);
    }
  };
  add("dinadan", 0.009288, 0);
  add("pellinore", 0.009365, 1.12e-5);
  add("caseb", 0.004629, 1.00e-5);
  add("sekhmet", 0.004885, 1.70e-5);
  add("merlin", 0.003976, 8.15e-5, 2);
  add("seven", 0.016156, 2.10e-5, 2);
  add("leda", 0.009677, 3.53e-5, 8);
  return problem;
}

Problem problem_with(std::int64_t records, std::vector<CostPtr> costs) {
  Problem problem;
  problem.records = records;
  for (CostPtr& cost : costs) {
    ProblemNode node;
    node.name = std::to_string(problem.nodes.size());
    node.compute = std::move(cost);
    problem.nodes.push_back(std::move(node));
  }
  return problem;
}

CostPtr random_cost(std::mt19937_64& random) {
  const double scale = uniform(random, 0.1, 10);
  switch (whole(random, 0, 6)) {
    case 0:
      return linear_cost(scale);
    case 1:
      return affine_cost({uniform(random, 0, 50), scale});
    case 2:
      return nlogn_cost({scale, uniform(random, 0, 20), uniform(random, 0, 2)});
    case 3:
      return power_cost(scale, uniform(random, 0.5, 2.5));
    case 4:
      return random_table(random);
    case 5:
      return step_cost({scale, static_cast<double>(whole(random, 1, 40)), uniform(random, 0, 40)});
    default:
      return scaled_cost(nlogn_cost(), scale);
  }
}

Problem random_problem(std::mt19937_64& random, int max_nodes, std::int64_t max_records) {
  std::vector<CostPtr> costs;
  for (std::int64_t i = whole(random, 1, max_nodes); i > 0; --i) costs.push_back(random_cost(random));
  Problem problem = problem_with(whole(random, 0, max_records), std::move(costs));
  if (whole(random, 0, 1) == 0) return problem;
  const auto count = static_cast<std::int64_t>(problem.nodes.size());
  for (ProblemNode& node : problem.nodes)
    node.max_records = whole(random, problem.records / count + 1, problem.records + 1);
  return problem;
}

Problem random_scatter(std::mt19937_64& random, int max_nodes, std::int64_t max_records) {
  Problem problem = random_problem(random, max_nodes, max_records);
  for (ProblemNode& node : problem.nodes) {
    const double slope = uniform(random, 0, 1);
    node.receive = whole(random, 0, 1) == 0 ? linear_cost(slope) : affine_cost({uniform(random, 0, 10), slope});
  }
  const auto root = static_cast<std::size_t>(whole(random, 0, static_cast<std::int64_t>(problem.nodes.size()) - 1));
  return arrange_scatter(std::move(problem), root,
                         whole(random, 0, 1) == 0 ? SendingOrder::kBandwidth : SendingOrder::kGiven);
}

std::uint64_t test_seed() {
  const char* text = std::getenv("HETSORT_SEED");
  constexpr std::uint64_t kUsual = 20061120;
  return text != nullptr ? std::strtoull(text, nullptr, 10) : kUsual;
}

std::vector<std::int64_t> shares_of(const Plan& plan) {
  std::vector<std::int64_t> shares;
  for (const NodePlan& node : plan.nodes) shares.push_back(node.records);
  return shares;
}

std::int64_t sum_of(const std::vector<std::int64_t>& shares) {
  return std::accumulate(shares.begin(), shares.end(), std::int64_t{0});
}

CompleteProblem& complete_problem() {
  static CompleteProblem complete = [](const Strategy&, Problem&) {};
  return complete;
}

}  // namespace hetsort::partition::test
