// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/research/queue/trace_matrix.h"

#include <algorithm>
#include <cassert>

namespace hetsort::research {

std::vector<int> TraceMatrix::jobs_of(std::size_t row) const {
  std::vector<int> jobs;
  jobs.reserve(processors_);
  for (std::size_t processor = 0; processor < processors_; ++processor)
    if (at(row, processor) != kNoJob) jobs.push_back(at(row, processor));
  std::ranges::sort(jobs);
  jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
  return jobs;
}

std::size_t TraceMatrix::add_row() {
  cells_.resize(cells_.size() + processors_, kNoJob);
  free_.push_back(processors_);
  return rows() - 1;
}

void TraceMatrix::place(int job, std::size_t row, std::span<const std::size_t> on) {
  assert(on.size() <= free_[row]);
  for (const std::size_t processor : on) cells_[row * processors_ + processor] = job;
  free_[row] -= on.size();
}

std::size_t TraceMatrix::place_first_fit(int job, std::size_t count) {
  std::size_t row = 0;
  while (row < rows() && free_[row] < count) ++row;
  if (row == rows()) add_row();
  std::vector<std::size_t> on;
  on.reserve(count);
  for (std::size_t processor = 0; on.size() < count; ++processor)
    if (at(row, processor) == kNoJob) on.push_back(processor);
  place(job, row, on);
  return row;
}

void TraceMatrix::remove(int job) {
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (cells_[i] != job) continue;
    cells_[i] = kNoJob;
    ++free_[i / processors_];
  }
}

std::size_t TraceMatrix::compact(std::size_t current) {
  std::size_t kept = 0;
  std::size_t moved_current = 0;
  const std::size_t all = rows();
  for (std::size_t row = 0; row < all; ++row) {
    if (row == current) moved_current = kept;
    if (free_[row] == processors_) continue;
    if (kept != row) {
      std::copy_n(cells_.begin() + static_cast<std::ptrdiff_t>(row * processors_), processors_,
                  cells_.begin() + static_cast<std::ptrdiff_t>(kept * processors_));
      free_[kept] = free_[row];
    }
    ++kept;
  }
  if (current >= all) moved_current = kept;
  cells_.resize(kept * processors_);
  free_.resize(kept);
  return moved_current;
}

}  // namespace hetsort::research
