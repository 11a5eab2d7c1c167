// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Jacobi iteration for the equation of Laplace on a square: two sections of one stage, two arrays. The thesis swaps the
// arrays after an iteration; here the second stage copies B to A while it sums the change, so that each array stays
// where memory or disk has it. At the border u = row + 2 column, which is also the solution.
#include "bench/research/programs/programs.h"

namespace hetsort::research::programs {
namespace {

using research::Communication;

constexpr std::size_t kA = 0;
constexpr std::size_t kB = 1;
constexpr std::size_t kSweep = 0;
constexpr std::size_t kNorm = 1;

research::Program jacobi_structure(std::int64_t rows, bool prefetch) {
  research::Program program;
  program.name = "jacobi";
  program.rows = rows;
  program.variables = {variable("A", rows, false), variable("B", rows, false)};
  program.sections = {section("sweep", Communication::kNearestNeighbour, rows, {stage("stencil", {kA}, {kB})}),
                      section("norm", Communication::kReduction, 1, {stage("change", {kA, kB}, {kA})})};
  program.sections[kSweep].message_variable = kB;
  if (prefetch)
    for (research::ProgramSection& section : program.sections) section.stages[0].io = research::IoMode::kPrefetch;
  return program;
}

double solution(std::int64_t row, std::int64_t column) { return static_cast<double>(row + 2 * column); }

class Jacobi : public Iteration {
 public:
  explicit Jacobi(Node& node) : node_(node), size_(node.program().rows) {
    const auto at_start = [&](std::int64_t row, std::int64_t column) {
      const bool border = row == 0 || column == 0 || row == size_ - 1 || column == size_ - 1;
      return border ? solution(row, column) : 0.0;
    };
    node.fill(kA, at_start);
    node.fill(kB, at_start);
    const auto columns = static_cast<std::size_t>(size_);
    for (auto* row : {&lower_, &upper_, &from_lower_, &from_upper_}) row->assign(columns, 0.0);
    for (std::int64_t column = 0; column < size_; ++column) {
      from_lower_[static_cast<std::size_t>(column)] = at_start(node.first_row() - 1, column);
      from_upper_[static_cast<std::size_t>(column)] = at_start(node.first_row() + node.rows(), column);
    }
  }

  void iterate() override {
    node_.run_stage({.section = kSweep, .halo = 1}, [&](const Block& block) { sweep(block); });
    node_.read_row(kB, 0, lower_);
    node_.read_row(kB, node_.rows() - 1, upper_);
    node_.exchange_with_neighbours(lower_, upper_, from_lower_, from_upper_);
    double change = 0;
    node_.run_stage({.section = kNorm}, [&](const Block& block) {
      for (std::int64_t i = block.begin; i < block.end; ++i) {
        double* a = block.row(kA, i);
        const double* b = block.row(kB, i);
        for (std::int64_t j = 0; j < size_; ++j) {
          change += (a[j] - b[j]) * (a[j] - b[j]);
          a[j] = b[j];
        }
      }
    });
    change_ = node_.sum(kNorm, change);
  }

  double difference() override {
    const std::vector<double> found = gather(node_, node_.all_rows(kA));
    std::vector<double> expected;
    if (!found.empty())
      for (std::int64_t i = 0; i < size_; ++i)
        for (std::int64_t j = 0; j < size_; ++j) expected.push_back(solution(i, j));
    return max_difference(found, expected);
  }

 private:
  void sweep(const Block& block) const {
    for (std::int64_t i = block.begin; i < block.end; ++i) {
      const std::int64_t row = node_.first_row() + i;
      const double* here = block.row(kA, i);
      double* b = block.row(kB, i);
      if (row == 0 || row == size_ - 1) {
        std::copy_n(here, size_, b);
        continue;
      }
      const double* above = i > 0 ? block.row(kA, i - 1) : from_lower_.data();
      const double* below = i + 1 < node_.rows() ? block.row(kA, i + 1) : from_upper_.data();
      b[0] = here[0];
      for (std::int64_t j = 1; j + 1 < size_; ++j) b[j] = 0.25 * (above[j] + below[j] + here[j - 1] + here[j + 1]);
      b[size_ - 1] = here[size_ - 1];
    }
  }

  Node& node_;
  std::int64_t size_;
  std::vector<double> lower_, upper_, from_lower_, from_upper_;
  double change_ = 0;
};

}  // namespace

const IterativeProgram kJacobi{"jacobi", 100, 2000, jacobi_structure,
                               [](Node& node) -> std::unique_ptr<Iteration> { return std::make_unique<Jacobi>(node); }};

}  // namespace hetsort::research::programs
