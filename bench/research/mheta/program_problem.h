// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A program as a problem of shares: its rows are the records, and the cost of a node is the time of all iterations
// without waiting for others. Every strategy applies; MHETA then predicts the time with waiting.
#pragma once

#include <memory>

#include "bench/research/mheta/predict_program.h"
#include "bench/research/mheta/program_model.h"
#include "partition/cost.h"
#include "partition/problem.h"

namespace hetsort::research {

/// The cost of a node. Costs rise with the rows except for small falls where a variable leaves memory or a prefetch
/// gets more blocks to hide behind. Plans treat them as rising.
partition::CostPtr program_cost(std::shared_ptr<const ProgramModel> model, std::size_t node);
/// The part of program_cost() that no plan avoids: computing. It never falls.
partition::CostPtr program_computing_cost(std::shared_ptr<const ProgramModel> model, std::size_t node);

/// The model as a problem carries it.
class ProgramOnNodes final : public partition::ProgramPredictor {
 public:
  explicit ProgramOnNodes(std::shared_ptr<const ProgramModel> model) : model_(std::move(model)) {}

  const ProgramModel& model() const { return *model_; }
  const std::string& name() const override { return model_->program().name; }
  std::int64_t iterations() const override { return model_->program().iterations; }
  partition::ProgramPrediction predict(std::span<const std::int64_t> input,
                                       std::span<const std::int64_t> output) const override {
    return predict_program(*model_, input, output);
  }
  partition::CostPtr unavoidable_cost(std::size_t node) const override { return program_computing_cost(model_, node); }

 private:
  std::shared_ptr<const ProgramModel> model_;
};

/// The problem of sharing `rows` of the program among its nodes.
partition::Problem problem_of_program(std::shared_ptr<const ProgramModel> model, std::int64_t rows);

}  // namespace hetsort::research
