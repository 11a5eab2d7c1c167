// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Conjugate gradients with a sparse symmetric matrix: seven sections. Two read the matrix, the others compute over
// vectors. The matrix has equally many elements in each row, at fixed distances from the diagonal; that of the thesis
// has not, and its rows do not cost alike.
#include <algorithm>
#include <array>

#include "bench/research/programs/programs.h"
#include "partition/error.h"

namespace hetsort::research::programs {
namespace {

using research::Communication;

constexpr std::array<std::int64_t, 5> kDistances{1, 2, 3, 5, 8};  // distances of elements from the diagonal
constexpr std::int64_t kHalo = kDistances.back();
constexpr std::int64_t kColumns = 1 + 2 * static_cast<std::int64_t>(kDistances.size());
constexpr double kDiagonal = 5;  // more than the sum of the others, which is 4.3
constexpr std::size_t kMatrix = 0;

research::Program cg_structure(std::int64_t rows, bool prefetch) {
  research::Program program;
  program.name = "cg";
  program.rows = rows;
  program.variables = {variable("matrix", kColumns, true)};
  program.sections = {section("direction", Communication::kNearestNeighbour, kHalo, {stage("p", {}, {})}),
                      section("product", Communication::kReduction, 1, {stage("q = A p", {kMatrix}, {})}),
                      section("solution", Communication::kNearestNeighbour, kHalo, {stage("x", {}, {})}),
                      section("residual", Communication::kReduction, 1, {stage("r", {}, {})}),
                      section("check", Communication::kReduction, 1, {stage("s = b - A x", {kMatrix}, {})}),
                      section("drift", Communication::kReduction, 1, {stage("s - r", {}, {})}),
                      section("norm", Communication::kReduction, 1, {stage("x x", {}, {})})};
  if (prefetch)
    for (const std::size_t number : {1U, 4U}) program.sections[number].stages[0].io = research::IoMode::kPrefetch;
  return program;
}

/// The element of the row, in the order of its storage: diagonal, then +d and -d for each distance. 0 beyond the
/// matrix.
double element(std::int64_t rows, std::int64_t row, std::int64_t place) {
  if (place == 0) return kDiagonal;
  const std::int64_t distance = kDistances[static_cast<std::size_t>((place - 1) / 2)];
  const std::int64_t column = place % 2 == 1 ? row + distance : row - distance;
  return column < 0 || column >= rows ? 0.0 : -1.0 / static_cast<double>(distance);
}

class Cg : public Iteration {
 public:
  explicit Cg(Node& node) : node_(node), rows_(static_cast<std::size_t>(node.rows())) {
    if (node.rows() > 0 && node.rows() < kHalo && node.rows() < node.program().rows)
      throw partition::PlanError("cg: a rank needs no row or at least 8");
    const std::int64_t all = node.program().rows;
    node.fill(kMatrix, [all](std::int64_t row, std::int64_t place) { return element(all, row, place); });
    for (auto* with_halo : {&x_, &p_}) with_halo->assign(rows_ + 2 * kHalo, 0.0);
    for (auto* own : {&q_, &s_}) own->assign(rows_, 0.0);
    r_.assign(rows_, 1.0);  // b is 1 everywhere, and x is 0
    rho_ = static_cast<double>(all);
  }

  void iterate() override {
    const double beta = before_ > 0 ? rho_ / before_ : 0.0;
    node_.compute({.section = 0}, [&] {
      for (std::size_t i = 0; i < rows_; ++i) p_[i + kHalo] = r_[i] + beta * p_[i + kHalo];
    });
    exchange_halo(p_);
    double product = 0;
    node_.run_stage({.section = 1}, [&](const Block& block) {
      for (std::int64_t i = block.begin; i < block.end; ++i) product += p_at(i) * (q_at(i) = times(block, i, p_));
    });
    product = node_.sum(1, product);
    const double alpha = product > 0 ? rho_ / product : 0.0;
    node_.compute({.section = 2}, [&] {
      for (std::size_t i = 0; i < rows_; ++i) x_[i + kHalo] += alpha * p_[i + kHalo];
    });
    exchange_halo(x_);
    before_ = rho_;
    double rho = 0;
    node_.compute({.section = 3}, [&] {
      for (std::size_t i = 0; i < rows_; ++i) {
        r_[i] -= alpha * q_[i];
        rho += r_[i] * r_[i];
      }
    });
    rho_ = node_.sum(3, rho);
    check_residual();
  }

  double difference() override {
    const std::vector<double> found = gather(node_, std::span(x_).subspan(kHalo, rows_));
    if (found.empty()) return 0;
    const std::int64_t all = node_.program().rows;
    std::vector<double> matrix(found.size() * found.size(), 0.0);
    for (std::int64_t row = 0; row < all; ++row)
      for (std::int64_t place = 0; place < kColumns; ++place) {
        const double value = element(all, row, place);
        const std::int64_t distance = place == 0 ? 0 : kDistances[static_cast<std::size_t>((place - 1) / 2)];
        const std::int64_t column = place % 2 == 1 ? row + distance : row - distance;
        if (value != 0) matrix[static_cast<std::size_t>(row * all + column)] = value;
      }
    return max_difference(found, solve_directly(std::move(matrix), std::vector<double>(found.size(), 1.0)));
  }

 private:
  double p_at(std::int64_t i) const { return p_[static_cast<std::size_t>(i + kHalo)]; }
  double& q_at(std::int64_t i) { return q_[static_cast<std::size_t>(i)]; }

  /// Row i of the matrix times a vector with halo.
  static double times(const Block& block, std::int64_t i, const std::vector<double>& with_halo) {
    const double* row = block.row(kMatrix, i);
    const double* at = with_halo.data() + i + kHalo;
    double sum = row[0] * at[0];
    for (std::size_t d = 0; d < kDistances.size(); ++d)
      sum += row[2 * d + 1] * at[kDistances[d]] + row[2 * d + 2] * at[-kDistances[d]];
    return sum;
  }

  void exchange_halo(std::vector<double>& with_halo) {
    const std::span<double> all(with_halo);
    node_.exchange_with_neighbours(all.subspan(kHalo, kHalo), all.subspan(rows_, kHalo), all.first(kHalo),
                                   all.last(kHalo));
  }

  void check_residual() {
    double norm = 0;
    node_.run_stage({.section = 4}, [&](const Block& block) {
      for (std::int64_t i = block.begin; i < block.end; ++i) {
        double& s = s_[static_cast<std::size_t>(i)];
        s = 1 - times(block, i, x_);
        norm += s * s;
      }
    });
    norms_[0] = node_.sum(4, norm);
    double drift = 0;
    node_.compute({.section = 5}, [&] {
      for (std::size_t i = 0; i < rows_; ++i) drift += (s_[i] - r_[i]) * (s_[i] - r_[i]);
    });
    norms_[1] = node_.sum(5, drift);
    double size = 0;
    node_.compute({.section = 6}, [&] {
      for (std::size_t i = 0; i < rows_; ++i) size += x_[i + kHalo] * x_[i + kHalo];
    });
    norms_[2] = node_.sum(6, size);
  }

  Node& node_;
  std::size_t rows_;
  std::vector<double> x_, p_, q_, r_, s_;
  std::array<double, 3> norms_{};
  double rho_ = 0;
  double before_ = 0;  // rho of the iteration before
};

}  // namespace

const IterativeProgram kCg{"cg", 10, 100, cg_structure,
                           [](Node& node) -> std::unique_ptr<Iteration> { return std::make_unique<Cg>(node); }};

}  // namespace hetsort::research::programs
