// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads portions of several spilled runs concurrently, each a few blocks ahead of its consumer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "io/compression/pieces.h"
#include "io/temp/spill.h"
#include "io/transfer/queue.h"
#include "sort/model/record_streams.h"
#include "sort/model/run.h"

namespace hetsort::sort {

/// Maximum transfers that a thread keeps in flight while it merges.
inline constexpr std::size_t kSpillReadDepth = 512;

/// Records [first, last) of a run.
struct SpilledPortion {
  const SpilledRun* run = nullptr;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

/// The contents of a stream: portions of one run, one after the other.
using SpilledPortions = std::vector<SpilledPortion>;

/// Reports a block whose bytes are not those that were spilled. Throws: io::Error.
[[noreturn]] void throw_corrupt_block(const SpilledBlock& block);

/// Reads spilled runs as streams, each of which owns its buffers. Thread safety: one thread.
class RunReader : public RecordStreams {
 public:
  /// Starts reading. `memory`: at least memory_needed(); every stream gets an equal number of its blocks.
  /// Throws: io::Error.
  RunReader(const io::SpillSpace& space, const RecordLayout& layout, const std::vector<SpilledPortions>& streams,
            std::span<std::byte> memory, io::Queue& queue);
  /// Reads each portion as a stream of its own.
  RunReader(const io::SpillSpace& space, const RecordLayout& layout, const std::vector<SpilledPortion>& portions,
            std::span<std::byte> memory, io::Queue& queue)
      : RunReader(space, layout, one_stream_each(portions), memory, queue) {}

  static std::uint64_t memory_needed(std::size_t streams, std::uint64_t block_bytes, std::size_t blocks_each = 2);

  std::size_t streams() const override { return streams_.size(); }
  /// Adds a portion at the end of a stream, of the same run as its other portions. Throws: io::Error.
  void append(std::size_t stream, const SpilledPortion& portion);
  /// The next records, all of one portion. Throws: io::Error, also for a block whose checksum is wrong.
  std::span<const std::byte> next(std::size_t stream) override;

 private:
  struct Buffer {
    std::uint64_t block = 0;  // number of the block in its run
    bool arrived = false;
  };
  struct Stream {
    SpilledPortions portions;      // none of them is empty
    std::size_t read_portion = 0;  // the portion of next_block
    std::uint64_t next_block = 0;  // the next block to request
    std::size_t next_portion = 0;  // the portion of `position`
    std::uint64_t position = 0;    // position of the next record to return
    std::size_t buffer = 0;        // the buffer that holds this record
    std::size_t requested = 0;     // buffers from that one on that hold blocks or will
    bool in_use = false;           // the consumer still reads `buffer`
  };

  static std::vector<SpilledPortions> one_stream_each(const std::vector<SpilledPortion>& portions);
  std::byte* memory_of(std::size_t stream, std::size_t buffer) const;
  std::size_t place_of_packed(const io::PackedPieces& packed) const;
  void request(std::size_t stream);
  void wait_for_one();
  void accept(std::size_t stream, std::size_t buffer);
  std::uint64_t records_in(const Stream& stream, std::uint64_t block) const;

  RecordLayout layout_;
  std::size_t records_per_block_;
  std::span<std::byte> memory_;
  std::size_t buffer_bytes_;
  std::size_t buffers_each_;
  io::Queue* queue_;
  std::vector<Stream> streams_;
  std::vector<Buffer> buffers_;  // stream-major
  io::PieceUnpacker unpacker_;
};

}  // namespace hetsort::sort
