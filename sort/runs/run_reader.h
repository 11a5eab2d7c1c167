// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads ranges of several spilled runs side by side, each a few blocks ahead of its consumer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "io/queue.h"
#include "io/temp/spill.h"
#include "sort/merge/record_streams.h"
#include "sort/runs/run.h"

namespace hetsort::sort {

/// Transfers that a thread keeps in flight while it merges.
inline constexpr std::size_t kSpillReadDepth = 512;

/// Records [first, last) of a run.
struct RunRange {
  const SpilledRun* run = nullptr;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

/// Ranges of one run, one behind the other: a stream.
using RunRanges = std::vector<RunRange>;

/// Each stream owns its buffers. Thread safety: one thread.
class RunReader : public RecordStreams {
 public:
  /// `memory` is dealt out evenly: every stream gets the same number of blocks, at least two when memory_needed() is
  /// kept. Starts reading. Throws: io::Error.
  RunReader(const io::SpillSpace& space, const RecordLayout& layout, const std::vector<RunRanges>& streams,
            std::span<std::byte> memory, io::Queue& queue);
  /// Each range a stream.
  RunReader(const io::SpillSpace& space, const RecordLayout& layout, const std::vector<RunRange>& ranges,
            std::span<std::byte> memory, io::Queue& queue)
      : RunReader(space, layout, each_alone(ranges), memory, queue) {}

  static std::uint64_t memory_needed(std::size_t streams, std::uint64_t block_bytes, std::size_t blocks_each = 2);

  std::size_t streams() const override { return streams_.size(); }
  /// Records of one range at a time. Throws: io::Error, also for a block whose checksum is wrong ("corrupt block").
  std::span<const std::byte> next(std::size_t stream) override;

 private:
  struct Buffer {
    std::uint64_t block = 0;  // index into the run's blocks
    bool arrived = false;
  };
  struct Stream {
    RunRanges ranges;              // none is empty
    std::size_t asking = 0;        // the range that next_block is in
    std::uint64_t next_block = 0;  // to ask for
    std::size_t handing = 0;       // the range that position is in
    std::uint64_t position = 0;    // of the next record to hand out
    std::size_t at = 0;            // the buffer that holds it
    bool holding = false;          // the consumer still reads buffer `at`
  };

  static std::vector<RunRanges> each_alone(const std::vector<RunRange>& ranges);
  std::byte* memory_of(std::size_t stream, std::size_t buffer) const;
  void ask(std::size_t stream, std::size_t buffer);
  void wait_for_one();
  void check(std::size_t stream, std::size_t buffer) const;
  std::uint64_t records_in(const Stream& stream, std::uint64_t block) const;

  const io::SpillSpace* space_;
  RecordLayout layout_;
  std::size_t records_per_block_;
  std::span<std::byte> memory_;
  std::size_t buffer_bytes_;
  std::size_t buffers_each_;
  io::Queue* queue_;
  std::vector<Stream> streams_;
  std::vector<Buffer> buffers_;  // stream-major
};

}  // namespace hetsort::sort
