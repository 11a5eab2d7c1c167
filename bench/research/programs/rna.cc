// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A dynamic program over pairs of positions, as for the folding of RNA. Each element of the table depends on those
// above, to the left and between them, and on half of its value before. Columns are divided into tiles, which run
// through the ranks in a pipeline; a reduction finds the best score.
#include <algorithm>

#include "bench/research/programs/programs.h"
#include "partition/error.h"

namespace hetsort::research::programs {
namespace {

using research::Communication;

constexpr std::size_t kTable = 0;
constexpr std::int64_t kTiles = 16;

research::Program rna_structure(std::int64_t rows, bool) {
  if (rows % kTiles != 0) throw partition::PlanError("rna: the number of rows must be a multiple of 16");
  research::Program program;
  program.name = "rna";
  program.rows = rows;
  program.variables = {variable("table", rows, false)};
  program.sections = {section("fill", Communication::kPipeline, rows / kTiles, {stage("pairs", {kTable}, {kTable})}),
                      section("best", Communication::kReduction, 1, {stage("scan", {}, {})})};
  program.sections[0].tiles = kTiles;
  return program;
}

double bond(std::int64_t row, std::int64_t column) { return (7 * row + 13 * column) % 5 == 0 ? 2.0 : -1.0; }

double score(double before, double above, double left, double corner_and_bond) {
  return std::max({before / 2, above - 1, left - 1, corner_and_bond});
}

class Rna : public Iteration {
 public:
  explicit Rna(Node& node)
      : node_(node),
        columns_(static_cast<std::size_t>(node.program().rows / kTiles)),
        above_(columns_, 0.0),
        left_(static_cast<std::size_t>(node.rows()), 0.0),
        best_of_row_(left_.size(), 0.0) {
    node.fill(kTable, [](std::int64_t, std::int64_t) { return 0.0; });
  }

  void iterate() override {
    std::ranges::fill(left_, 0.0);
    std::ranges::fill(best_of_row_, 0.0);
    double corner = 0;  // the element above the tile's first row, at the end of the tile before
    for (std::int64_t tile = 0; tile < kTiles; ++tile) {
      std::ranges::fill(above_, 0.0);
      node_.receive_tile(above_);
      corner_ = corner;
      corner = above_.back();
      node_.run_stage({.section = 0, .tile = tile}, [&](const Block& block) { fill(block); });
      node_.send_tile(above_);
    }
    double best = 0;
    node_.compute({.section = 1}, [&] {
      for (const double of_row : best_of_row_) best = std::max(best, of_row);
    });
    node_.reduce(1, {&best, 1}, [](std::span<double> values, std::span<const double> others) {
      values[0] = std::max(values[0], others[0]);
    });
    best_ = best;
    ++iterations_;
  }

  double difference() override {
    const std::vector<double> found = gather(node_, node_.all_rows(kTable));
    if (found.empty()) return 0;
    const auto size = static_cast<std::size_t>(node_.program().rows);
    std::vector<double> table(size * size, 0.0);
    for (int i = 0; i < iterations_; ++i) fill_whole(table, size);
    return max_difference(found, table);
  }

 private:
  static void fill_whole(std::vector<double>& table, std::size_t size) {
    const auto at = [&](std::size_t row, std::size_t column) {  // counted from 1; 0 beyond the table
      return row > 0 && column > 0 ? table[(row - 1) * size + column - 1] : 0.0;
    };
    for (std::size_t i = 1; i <= size; ++i)
      for (std::size_t j = 1; j <= size; ++j) {
        const double pair = at(i - 1, j - 1) + bond(static_cast<std::int64_t>(i - 1), static_cast<std::int64_t>(j - 1));
        table[(i - 1) * size + j - 1] = score(at(i, j), at(i - 1, j), at(i, j - 1), pair);
      }
  }

  /// Computes the rows of a tile; above_ is the row before them, and afterwards the last of them.
  void fill(const Block& block) {
    for (std::int64_t i = block.begin; i < block.end; ++i) {
      const auto place = static_cast<std::size_t>(i);
      double* row = block.row(kTable, i);
      double corner = corner_;
      double left = left_[place];
      corner_ = left;
      for (std::size_t j = 0; j < columns_; ++j) {
        const std::int64_t column = block.tile * static_cast<std::int64_t>(columns_) + static_cast<std::int64_t>(j);
        row[j] = score(row[j], above_[j], left, corner + bond(node_.first_row() + i, column));
        corner = above_[j];
        above_[j] = left = row[j];
        best_of_row_[place] = std::max(best_of_row_[place], left);
      }
      left_[place] = left;
    }
  }

  Node& node_;
  std::size_t columns_;  // columns of a tile
  std::vector<double> above_;
  std::vector<double> left_;  // the last column of the tile before
  std::vector<double> best_of_row_;
  double corner_ = 0;
  double best_ = 0;
  int iterations_ = 0;
};

}  // namespace

const IterativeProgram kRna{"rna", 10, 3, rna_structure,
                            [](Node& node) -> std::unique_ptr<Iteration> { return std::make_unique<Rna>(node); }};

}  // namespace hetsort::research::programs
