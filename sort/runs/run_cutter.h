// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Cuts a rank's input into runs that fit a thread's memory.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "sort/input/input.h"
#include "sort/model/input_segments.h"
#include "sort/model/rank_context.h"

namespace hetsort::sort {

/// Cuts segments into equal runs of at most plan.run_bytes. Thread safety: any thread.
class RunCutter {
 public:
  /// `lines`: the input if its records are lines, which are not cut; else null.
  RunCutter(InputSegments& segments, const RankContext& context, const Input* lines = nullptr);

  /// Starts with the rest of `segment`, which was handed out before, behind its first `taken_bytes`.
  void start_with(const InputSegment& segment, std::uint64_t taken_bytes) { open(segment, taken_bytes); }
  /// The next run; nothing at the end, or at a line that is longer than a run. Throws: what the segments throw.
  std::optional<InputSegment> next();
  /// If next() has stopped at a line that is longer than a run: a run of up to `max_bytes` that begins with it. next()
  /// then continues behind this run. Throws: io::Error for a line that is longer than that.
  std::optional<InputSegment> next_with_long_line(std::uint64_t max_bytes);

 private:
  void open(const InputSegment& segment, std::uint64_t taken_bytes);
  InputSegment cut_off(std::uint64_t bytes);
  std::uint64_t whole_lines(std::uint64_t wanted, std::uint64_t most) const;
  void share_out();

  InputSegments& segments_;
  std::uint64_t record_bytes_;
  std::uint64_t max_records_;
  const Input* lines_;
  std::mutex mutex_;
  InputSegment left_;
  std::uint64_t cut_bytes_ = 0;  // bytes of the segment that were cut off so far
  std::uint64_t runs_left_ = 0;
  bool at_long_line_ = false;
};

}  // namespace hetsort::sort
