// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/runs/run_cutter.h"

#include <algorithm>

namespace hetsort::sort {

RunCutter::RunCutter(InputSegments& segments, const RankContext& context)
    : segments_(segments),
      record_bytes_(context.layout.record_bytes),
      max_records_(std::max<std::uint64_t>(1, context.plan.run_bytes / record_bytes_)) {}

std::optional<InputSegment> RunCutter::next() {
  const std::lock_guard lock(mutex_);
  while (true) {
    while (runs_left_ == 0) {
      const std::optional<InputSegment> segment = segments_.next();
      if (!segment) return std::nullopt;
      open(*segment, 0);
    }
    const std::uint64_t records = left_.bytes / record_bytes_;
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
  runs_left_ = (left_.bytes / record_bytes_ + max_records_ - 1) / max_records_;
}

InputSegment RunCutter::cut_off(std::uint64_t bytes) {
  const InputSegment run{left_.first_byte, bytes, left_.first_record};
  left_ = {run.first_byte + bytes, left_.bytes - bytes, run.first_record + bytes / record_bytes_};
  cut_bytes_ += bytes;
  return run;
}

}  // namespace hetsort::sort
