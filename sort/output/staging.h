// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A ring of equal memory blocks: one fills while others are written.
#pragma once

#include <cstddef>
#include <span>

#include "io/transfer/queue.h"

namespace hetsort::sort {

/// Blocks 0 .. count-1 are filled in turn; a block is free again when its write has ended.
/// Thread safety: one thread, the queue's.
class StagingRing {
 public:
  /// `memory`: page-aligned, cut into `blocks` blocks of equal size, rounded down to whole pages. `queue` is used by
  /// this ring alone. Requires: blocks <= 64; queue.depth() >= blocks.
  StagingRing(std::span<std::byte> memory, std::size_t blocks, io::Queue& queue);

  std::size_t block_bytes() const { return block_bytes_; }
  /// The block to fill now; waits until its former write has ended. Throws: io::Error.
  std::byte* current();
  /// Starts writing the first `bytes` of the current block, from `skipped` on, and goes to the next.
  void write(const io::File& file, std::size_t skipped, std::size_t bytes, std::uint64_t offset_bytes);
  /// Goes to the next block; the current one is not written.
  void pass();
  /// Waits until all writes have ended. Throws: io::Error.
  void drain();
  /// Time for which writes have held up the thread so far.
  double waited_seconds() const { return waited_seconds_; }

 private:
  void wait_for_one();

  std::byte* memory_;
  std::size_t block_bytes_;
  std::size_t blocks_;
  io::Queue* queue_;
  std::size_t at_ = 0;
  std::uint64_t busy_ = 0;  // one bit for each block: its write is in flight
  double waited_seconds_ = 0;
  double begin_ = -1;  // time at which filling the current block began, for the trace
};

}  // namespace hetsort::sort
