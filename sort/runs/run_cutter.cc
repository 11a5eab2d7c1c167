// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/runs/run_cutter.h"

#include <algorithm>

namespace hetsort::sort {

RunCutter::RunCutter(InputSegments& segments, const RankContext& context, const Input* lines)
    : segments_(segments),
      record_bytes_(context.layout.record_bytes),
      max_records_(std::max<std::uint64_t>(1, context.plan.run_bytes / record_bytes_)),
      lines_(lines) {}

std::optional<InputSegment> RunCutter::next() {
  const std::lock_guard lock(mutex_);
  while (true) {
    while (runs_left_ == 0) {
      const std::optional<InputSegment> segment = segments_.next();
      if (!segment) return std::nullopt;
      open(*segment, 0);
    }
    const std::uint64_t records = left_.bytes / record_bytes_;
    if (lines_ != nullptr) {
      const std::uint64_t run_bytes = whole_lines((records + runs_left_ - 1) / runs_left_);
      runs_left_ = run_bytes == left_.bytes ? 0 : std::max<std::uint64_t>(1, runs_left_ - 1);
      return cut_off(run_bytes);
    }
    const std::uint64_t wanted = cut_bytes_ + (records + runs_left_ - 1) / runs_left_ * record_bytes_;
    const std::uint64_t claimed = std::min(wanted, segments_.claim(wanted));
    runs_left_ = claimed < wanted ? 0 : runs_left_ - 1;
    if (claimed > cut_bytes_) return cut_off(claimed - cut_bytes_);
  }
}

void RunCutter::open(const InputSegment& segment, std::uint64_t taken_bytes) {
  left_ = segment;
  cut_bytes_ = 0;
  cut_off(taken_bytes);
  // A run of lines ends a little behind its share of the bytes.
  const std::uint64_t most = lines_ == nullptr ? max_records_ : max_records_ - max_records_ / 8;
  runs_left_ = (left_.bytes / record_bytes_ + most - 1) / most;
}

/// The length of a run of whole lines, near `wanted` bytes.
std::uint64_t RunCutter::whole_lines(std::uint64_t wanted) const {
  const std::uint64_t first = left_.first_byte;
  for (;; wanted /= 2) {
    const std::uint64_t end =
        std::min(lines_->line_start(first + std::max<std::uint64_t>(1, wanted)), first + left_.bytes);
    if (end - first <= max_records_) return end - first;
    if (wanted <= 1) lines_->refuse_long_line(first, max_records_);
  }
}

InputSegment RunCutter::cut_off(std::uint64_t bytes) {
  const InputSegment run{left_.first_byte, bytes, left_.first_record};
  left_ = {run.first_byte + bytes, left_.bytes - bytes, run.first_record + bytes / record_bytes_};
  cut_bytes_ += bytes;
  return run;
}

}  // namespace hetsort::sort
