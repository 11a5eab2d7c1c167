// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/runs/run_cutter.h"

#include <algorithm>
#include <utility>

namespace hetsort::sort {

RunCutter::RunCutter(InputSegments& segments, const RankContext& context, const Input* lines)
    : segments_(segments),
      record_bytes_(context.layout.record_bytes),
      max_records_(std::max<std::uint64_t>(1, context.plan.run_bytes / record_bytes_)),
      lines_(lines) {}

std::optional<InputSegment> RunCutter::next() {
  const std::lock_guard lock(mutex_);
  while (!at_long_line_) {
    while (runs_left_ == 0) {
      const std::optional<InputSegment> segment = segments_.next();
      if (!segment) return std::nullopt;
      open(*segment, 0);
    }
    const std::uint64_t records = left_.bytes / record_bytes_;
    if (lines_ != nullptr) {
      const std::uint64_t run_bytes = whole_lines((records + runs_left_ - 1) / runs_left_, max_records_);
      at_long_line_ = run_bytes == 0;
      if (at_long_line_) break;
      runs_left_ = run_bytes == left_.bytes ? 0 : std::max<std::uint64_t>(1, runs_left_ - 1);
      return cut_off(run_bytes);
    }
    const std::uint64_t wanted = cut_bytes_ + (records + runs_left_ - 1) / runs_left_ * record_bytes_;
    const std::uint64_t claimed = std::min(wanted, segments_.claim(wanted));
    runs_left_ = claimed < wanted ? 0 : runs_left_ - 1;
    if (claimed > cut_bytes_) return cut_off(claimed - cut_bytes_);
  }
  return std::nullopt;
}

std::optional<InputSegment> RunCutter::next_with_long_line(std::uint64_t max_bytes) {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(at_long_line_, false)) return std::nullopt;
  const std::uint64_t run_bytes = whole_lines(max_bytes / 2, max_bytes);
  if (run_bytes == 0) lines_->refuse_long_line(left_.first_byte, max_bytes / 2 - 1);
  const InputSegment run = cut_off(run_bytes);
  share_out();
  return run;
}

void RunCutter::open(const InputSegment& segment, std::uint64_t taken_bytes) {
  left_ = segment;
  cut_bytes_ = 0;
  cut_off(taken_bytes);
  share_out();
}

/// Decides how many runs the rest of the segment becomes.
void RunCutter::share_out() {
  // A run of lines ends a little behind its equal part of the bytes.
  const std::uint64_t most = lines_ == nullptr ? max_records_ : max_records_ - max_records_ / 8;
  runs_left_ = (left_.bytes / record_bytes_ + most - 1) / most;
}

/// The length of a run of whole lines, near `wanted` bytes and at most `most`; 0 if the first line is longer.
std::uint64_t RunCutter::whole_lines(std::uint64_t wanted, std::uint64_t most) const {
  const std::uint64_t first = left_.first_byte;
  const std::uint64_t end =
      std::min(lines_->line_start(first + std::max<std::uint64_t>(1, wanted), first + most), first + left_.bytes);
  return (end - first <= most ? end : lines_->last_line_start(first, first + most)) - first;
}

InputSegment RunCutter::cut_off(std::uint64_t bytes) {
  const InputSegment run{left_.first_byte, bytes, left_.first_record};
  left_ = {run.first_byte + bytes, left_.bytes - bytes, run.first_record + bytes / record_bytes_};
  cut_bytes_ += bytes;
  return run;
}

}  // namespace hetsort::sort
