// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>

#include "bench/research/programs/programs.h"

namespace hetsort::research::programs {

std::vector<double> solve_directly(std::vector<double> matrix, std::vector<double> right) {
  const std::size_t size = right.size();
  const auto at = [&](std::size_t row, std::size_t column) -> double& { return matrix[row * size + column]; };
  for (std::size_t pivot = 0; pivot < size; ++pivot)  // the matrices are positive definite: no exchange of rows
    for (std::size_t row = pivot + 1; row < size; ++row) {
      const double factor = at(row, pivot) / at(pivot, pivot);
      for (std::size_t column = pivot; column < size; ++column) at(row, column) -= factor * at(pivot, column);
      right[row] -= factor * right[pivot];
    }
  for (std::size_t row = size; row-- > 0;) {
    for (std::size_t column = row + 1; column < size; ++column) right[row] -= at(row, column) * right[column];
    right[row] /= at(row, row);
  }
  return right;
}

std::vector<double> gather(Node& node, std::span<const double> values) {
  const auto bytes = std::as_bytes(values);
  std::vector<double> all;
  for (const comm::Bytes& part : node.ranks().gather(comm::Bytes(bytes.begin(), bytes.end()))) {
    const std::size_t before = all.size();
    all.resize(before + part.size() / sizeof(double));
    if (!part.empty()) std::memcpy(all.data() + before, part.data(), part.size());
  }
  return all;
}

double max_difference(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size()) return HUGE_VAL;
  double max = 0;
  for (std::size_t i = 0; i < a.size(); ++i) max = std::max(max, std::abs(a[i] - b[i]));
  return max;
}

research::ProgramVariable variable(const char* name, std::int64_t columns, bool read_only) {
  research::ProgramVariable made;
  made.name = name;
  made.read_only = read_only;
  made.bytes = static_cast<double>(columns) * sizeof(double);
  return made;
}

research::ProgramStage stage(const char* name, std::vector<std::size_t> reads, std::vector<std::size_t> writes) {
  research::ProgramStage made;
  made.name = name;
  made.reads = std::move(reads);
  made.writes = std::move(writes);
  return made;
}

research::ProgramSection section(const char* name, research::Communication communication, std::int64_t message_values,
                                 std::vector<research::ProgramStage> stages) {
  research::ProgramSection made;
  made.name = name;
  made.communication = communication;
  made.message_bytes = static_cast<double>(message_values) * sizeof(double);
  made.stages = std::move(stages);
  return made;
}

}  // namespace hetsort::research::programs
