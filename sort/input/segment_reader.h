// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Cuts segments of an input, and reads them into memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "io/transfer/queue.h"
#include "sort/input/input.h"
#include "sort/model/record_order.h"

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

/// Cuts segments into pieces of about `piece_bytes`, at record borders and, where the sizes allow it, page borders.
std::vector<Segment> cut(std::span<const Segment> segments, std::uint64_t piece_bytes, std::size_t record_bytes);

/// Checks that segments in memory end with whole lines. Throws: io::Error if not: a file has changed since it was
/// placed.
void check_ends_of_lines(const std::byte* memory, std::span<const Segment> segments, std::byte terminator);

/// Cuts segments in memory into pieces of about `piece_bytes`, each of whole records. Throws: as check_ends_of_lines().
std::vector<Segment> cut_records(const RecordLayout& layout, const std::byte* memory, std::span<const Segment> segments,
                                 std::uint64_t piece_bytes);

}  // namespace hetsort::sort
