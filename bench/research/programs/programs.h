// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The iterative programs of Nakazawa 2005, chapter 6, with the structure that the thesis describes: sections, arrays,
// communication. Each file has one.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "bench/research/programs/node.h"

namespace hetsort::research::programs {

class Iteration {
 public:
  Iteration() = default;
  Iteration(const Iteration&) = delete;
  Iteration& operator=(const Iteration&) = delete;
  virtual ~Iteration() = default;

  virtual void iterate() = 0;
  /// The largest difference from the direct solution, on rank 0; 0 elsewhere. Collective.
  virtual double difference() = 0;
};

struct IterativeProgram {
  std::string_view name;
  std::int64_t iterations;        ///< number of iterations in the thesis
  std::int64_t check_iterations;  ///< iterations that solve a problem of a few dozen rows
  research::Program (*structure)(std::int64_t rows, bool prefetch);
  std::unique_ptr<Iteration> (*begin)(Node& node);
};

extern const IterativeProgram kJacobi;
extern const IterativeProgram kCg;
extern const IterativeProgram kLanczos;
extern const IterativeProgram kRna;

/// Solves A x = b by elimination. `matrix`: row by row.
std::vector<double> solve_directly(std::vector<double> matrix, std::vector<double> right);
/// The values of all ranks in rank order, on rank 0. Collective.
std::vector<double> gather(Node& node, std::span<const double> values);
double max_difference(std::span<const double> a, std::span<const double> b);

// Helpers that build structures.
research::ProgramVariable variable(const char* name, std::int64_t columns, bool read_only);
research::ProgramStage stage(const char* name, std::vector<std::size_t> reads, std::vector<std::size_t> writes);
research::ProgramSection section(const char* name, research::Communication communication, std::int64_t message_values,
                                 std::vector<research::ProgramStage> stages);

}  // namespace hetsort::research::programs
