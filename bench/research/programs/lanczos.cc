// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Solves A x = b by restarted Lanczos iterations with a dense, symmetric, positive definite matrix: fifteen sections.
// Each of the first fourteen multiplies the matrix with the newest vector of the basis, and a reduction assembles the
// product. The last one solves the tridiagonal system and begins anew with the residual. Vectors are replicated.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "bench/research/programs/programs.h"

namespace hetsort::research::programs {
namespace {

using research::Communication;

constexpr std::size_t kMatrix = 0;
constexpr std::size_t kSteps = 14;
constexpr double kDiagonal = 25;  // more than the sum of the others: 2 ln N for N rows
constexpr double kConverged = 1e-13;

research::Program lanczos_structure(std::int64_t rows, bool prefetch) {
  research::Program program;
  program.name = "lanczos";
  program.rows = rows;
  program.variables = {variable("matrix", rows, true)};
  for (std::size_t step = 0; step < kSteps; ++step) {
    program.sections.push_back(section("step", Communication::kReduction, rows,
                                       {stage(kReplicatedWork, {}, {}), stage("product", {kMatrix}, {})}));
    if (prefetch) program.sections.back().stages[1].io = research::IoMode::kPrefetch;
  }
  program.sections.push_back(section("solve", Communication::kReduction, 1, {stage(kReplicatedWork, {}, {})}));
  return program;
}

double element(std::int64_t row, std::int64_t column) {
  return row == column ? kDiagonal : 1.0 / static_cast<double>(1 + std::abs(row - column));
}

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

void add(Vector& to, double factor, const Vector& vector) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * vector[i];
}

class Lanczos : public Iteration {
 public:
  explicit Lanczos(Node& node)
      : node_(node),
        size_(static_cast<std::size_t>(node.program().rows)),
        solution_(size_, 0.0),
        residual_(size_, 1.0) {
    node.fill(kMatrix, element);
    norm_ = std::sqrt(dot(residual_, residual_));
  }

  void iterate() override {
    basis_.clear();
    alpha_.clear();
    beta_.clear();
    for (std::size_t step = 0; step < kSteps; ++step) {
      node_.compute({.section = step}, [&] { extend_basis(); });
      product_.assign(size_, 0.0);
      node_.run_stage({.section = step, .stage = 1}, [&](const Block& block) { multiply(block); });
      node_.reduce(step, product_, [](std::span<double> values, std::span<const double> others) {
        for (std::size_t i = 0; i < values.size(); ++i) values[i] += others[i];
      });
    }
    node_.compute({.section = kSteps}, [&] { restart(); });
    checksum_ = node_.rows() > 0 ? node_.sum(kSteps, solution_[static_cast<std::size_t>(node_.first_row())]) : 0.0;
  }

  double difference() override {
    const auto first = static_cast<std::size_t>(node_.first_row());
    const Vector found = gather(node_, std::span(solution_).subspan(first, static_cast<std::size_t>(node_.rows())));
    if (found.empty()) return 0;
    Vector matrix;
    for (std::size_t i = 0; i < size_; ++i)
      for (std::size_t j = 0; j < size_; ++j)
        matrix.push_back(element(static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)));
    return max_difference(found, solve_directly(std::move(matrix), Vector(size_, 1.0)));
  }

 private:
  /// Takes the part of the basis out of the last product, and what is left as the next vector.
  void extend_basis() {
    if (basis_.empty()) {
      basis_.push_back(residual_);
      scale(basis_.back(), norm_);
      return;
    }
    basis_.push_back(orthogonal());
    beta_.push_back(std::sqrt(dot(basis_.back(), basis_.back())));
    scale(basis_.back(), beta_.back());
  }

  Vector orthogonal() {
    alpha_.push_back(dot(product_, basis_.back()));
    Vector left = product_;
    add(left, -alpha_.back(), basis_.back());
    if (basis_.size() > 1) add(left, -beta_.back(), basis_[basis_.size() - 2]);
    return left;
  }

  static void scale(Vector& vector, double norm) {
    const double factor = norm > kConverged ? 1 / norm : 0.0;
    for (double& value : vector) value *= factor;
  }

  void multiply(const Block& block) {
    for (std::int64_t i = block.begin; i < block.end; ++i) {
      const double* row = block.row(kMatrix, i);
      product_[static_cast<std::size_t>(node_.first_row() + i)] =
          std::inner_product(row, row + size_, basis_.back().begin(), 0.0);
    }
  }

  /// Solves T y = |r| e_1 for the tridiagonal matrix T of alpha and beta; x += V y. The residual is then the last
  /// vector.
  void restart() {
    if (norm_ <= kConverged) return;
    Vector left = orthogonal();
    Vector diagonal = alpha_;
    Vector y(kSteps, 0.0);
    y[0] = norm_;
    std::size_t used = 1;  // number of vectors; a basis that has become dependent ends here
    while (used < kSteps && beta_[used - 1] > kConverged) ++used;
    for (std::size_t i = 1; i < used; ++i) {
      const double factor = beta_[i - 1] / diagonal[i - 1];
      diagonal[i] -= factor * beta_[i - 1];
      y[i] -= factor * y[i - 1];
    }
    for (std::size_t i = used; i-- > 0;) y[i] = (y[i] - (i + 1 < used ? beta_[i] * y[i + 1] : 0.0)) / diagonal[i];
    for (std::size_t i = 0; i < used; ++i) add(solution_, y[i], basis_[i]);
    residual_ = std::move(left);
    const double factor = used == kSteps ? -y[kSteps - 1] : 0.0;
    for (double& value : residual_) value *= factor;
    norm_ = std::sqrt(dot(residual_, residual_));
  }

  Node& node_;
  std::size_t size_;
  Vector solution_;
  Vector residual_;
  double norm_ = 0;
  std::vector<Vector> basis_;
  Vector alpha_, beta_;
  Vector product_;
  double checksum_ = 0;
};

}  // namespace

const IterativeProgram kLanczos{"lanczos", 5, 8, lanczos_structure, [](Node& node) -> std::unique_ptr<Iteration> {
                                  return std::make_unique<Lanczos>(node);
                                }};

}  // namespace hetsort::research::programs
