// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/research/mheta/program_problem.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bench/research/mheta/predict_program.h"
#include "partition/cost/doubles.h"

namespace hetsort::research {
namespace {

/// The cost of a node. `kSeconds` gives its seconds in one iteration.
template <double (*kSeconds)(const ProgramModel&, std::size_t, double)>
class ProgramCost final : public partition::CostFunction {
 public:
  ProgramCost(std::shared_ptr<const ProgramModel> model, std::size_t node) : model_(std::move(model)), node_(node) {}

  double value(double records) const override {
    if (records <= 0) return 0;
    const double seconds = static_cast<double>(model_->program().iterations) * kSeconds(*model_, node_, records);
    return std::isnan(seconds) ? partition::kInfinity : seconds;
  }

  double inverse(double cost) const override {
    constexpr double kMaxRecords = 0x1p63;
    constexpr double kPrecision = 1e-13;  // relative, a few units of the last place
    double low = 0;
    double high = 1;
    while (value(high) <= cost) {
      low = high;
      high *= 2;
      if (high > kMaxRecords) return partition::kInfinity;
    }
    while (high - low > kPrecision * high && high > 1e-9) {
      const double middle = low + (high - low) / 2;
      (value(middle) <= cost ? low : high) = middle;
    }
    return low;
  }

 private:
  std::shared_ptr<const ProgramModel> model_;
  std::size_t node_;
};

}  // namespace

partition::CostPtr program_cost(std::shared_ptr<const ProgramModel> model, std::size_t node) {
  return std::make_shared<const ProgramCost<node_seconds>>(std::move(model), node);
}

partition::CostPtr program_computing_cost(std::shared_ptr<const ProgramModel> model, std::size_t node) {
  return std::make_shared<const ProgramCost<computing_seconds>>(std::move(model), node);
}

partition::Problem problem_of_program(std::shared_ptr<const ProgramModel> model, std::int64_t rows) {
  partition::Problem problem;
  problem.records = rows;
  problem.start_delay = model->start_seconds();
  std::vector<std::string> names;
  names.reserve(model->nodes());
  for (std::size_t i = 0; i < model->nodes(); ++i) names.push_back(model->name(i));
  const std::vector<std::size_t> numbers = partition::numbers_of_names(names);
  problem.nodes.reserve(model->nodes());
  for (std::size_t i = 0; i < model->nodes(); ++i) {
    partition::ProblemNode node;
    node.name = names[i];
    node.number = numbers[i];
    node.speed = model->speed(i);
    node.compute = program_cost(model, i);
    problem.nodes.push_back(std::move(node));
  }
  problem.program = std::make_shared<const ProgramOnNodes>(std::move(model));
  problem.program_costs = true;
  return problem;
}

}  // namespace hetsort::research
