// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The trace matrix of a gang scheduler (Nakazawa 2005, 3.1.1): a row for each time slice, a column for each processor.
// All processes of a row run during its slice.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hetsort::research {

constexpr int kNoJob = -1;

class TraceMatrix {
 public:
  explicit TraceMatrix(std::size_t processors) : processors_(processors) {}

  std::size_t processors() const { return processors_; }
  std::size_t rows() const { return cells_.size() / processors_; }
  int at(std::size_t row, std::size_t processor) const { return cells_[row * processors_ + processor]; }
  std::size_t free_in(std::size_t row) const { return free_[row]; }
  /// The jobs of a row, each once.
  std::vector<int> jobs_of(std::size_t row) const;

  std::size_t add_row();
  /// Puts the job on processors of a row. Requires: these processors are free in the row.
  void place(int job, std::size_t row, std::span<const std::size_t> on);
  /// Puts the job into the first row with as many free processors, or into a new one. Returns the row.
  std::size_t place_first_fit(int job, std::size_t count);
  void remove(int job);
  /// Drops rows without a job. Returns where row `current` is then: itself, or the next one that is left.
  std::size_t compact(std::size_t current);

 private:
  std::size_t processors_;
  std::vector<int> cells_;  // job of each processor, row by row
  std::vector<std::size_t> free_;
};

}  // namespace hetsort::research
