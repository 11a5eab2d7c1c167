// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads segments of an input into memory.
#pragma once

#include <cstddef>
#include <optional>

#include "io/transfer/queue.h"
#include "sort/input/input.h"

namespace hetsort::sort {

/// Reads segments into memory, several at a time. Thread safety: one thread.
class SegmentReader {
 public:
  /// `terminator`: the terminator of lines.
  SegmentReader(io::Queue& queue, std::byte* memory, std::optional<std::byte> terminator = {})
      : queue_(&queue), memory_(memory), terminator_(terminator.value_or(std::byte{})) {}

  bool full() const { return queue_->in_flight() == queue_->depth(); }
  bool idle() const { return queue_->in_flight() == 0; }
  /// Starts reading. `segment` must live until its completion. Requires: !full().
  void start(const Segment& segment);
  /// Waits for one segment to be in memory and returns it. Requires: !idle(). Throws: io::Error, also for an input
  /// that was truncated while it was read.
  const Segment& wait();

 private:
  io::Queue* queue_;
  std::byte* memory_;
  std::byte terminator_;
};

}  // namespace hetsort::sort
