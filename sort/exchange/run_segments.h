// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Segments of a rank's own runs: as blocks for other ranks, or as a stream of its own merge.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sort/exchange/outgoing_streams.h"
#include "sort/merge/record_streams.h"
#include "sort/runs/memory_run.h"
#include "sort/runs/run_reader.h"

namespace hetsort::sort {

/// Records [first, last) of a run in memory. Segments that are gathered at the same time must not share a bucket that
/// is not sorted yet.
struct MemorySegment {
  const MemoryRun* run = nullptr;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

/// Segments of one run, one behind the other: a stream.
using MemorySegments = std::vector<MemorySegment>;

/// Blocks of memory segments; none holds records of two.
class MemoryBlocks : public BlockSource {
 public:
  /// Block n of a segment holds its records [n * block_records, (n + 1) * block_records).
  static StreamSize size_of(const MemorySegment& segment, std::uint64_t block_records);
  static std::size_t memory_needed(std::size_t streams, std::uint64_t block_bytes);
  /// `memory`: memory_needed() for blocks of block_records records.
  MemoryBlocks(const std::vector<MemorySegments>& streams, std::size_t record_bytes, std::uint64_t block_records,
               std::span<std::byte> memory);

  std::size_t depth() const override { return kInitialCredits; }
  std::span<std::byte> next(std::size_t stream) override;

 private:
  struct Cursor {
    MemorySegments segments;   // what is left of them
    std::size_t at = 0;        // the one being handed out
    std::uint64_t blocks = 0;  // handed out
  };

  std::vector<Cursor> cursors_;
  std::size_t record_bytes_;
  std::uint64_t block_records_;
  std::span<std::byte> memory_;
  std::vector<Element> scratch_;
};

/// Blocks of segments of spilled runs: each is one spilled block, or the part of it inside the segment.
class SpilledBlocks : public BlockSource {
 public:
  static StreamSize size_of(const RunRange& segment, std::uint64_t records_per_block);
  /// `memory` and `queue` as for RunReader.
  SpilledBlocks(const io::SpillSpace& space, const RecordLayout& layout, const std::vector<RunRanges>& streams,
                std::span<std::byte> memory, std::unique_ptr<io::Queue> queue);

  std::size_t depth() const override { return 1; }
  std::span<std::byte> next(std::size_t stream) override;

 private:
  std::span<std::byte> memory_;
  std::unique_ptr<io::Queue> queue_;
  RunReader reader_;
};

/// Memory segments as streams of a merge on this rank. Allocates: some 128 KiB, and a record or more a segment.
class MemoryStreams : public RecordStreams {
 public:
  /// `scratch`: BucketIndex::kScratchElements.
  MemoryStreams(const std::vector<MemorySegment>& segments, std::size_t record_bytes, std::span<Element> scratch);

  std::size_t streams() const override { return streams_.size(); }
  std::span<const std::byte> next(std::size_t stream) override;

 private:
  struct Stream {
    MemorySegment left;
    std::vector<std::byte> piece;
  };

  std::vector<Stream> streams_;
  std::size_t record_bytes_;
  std::uint64_t piece_records_;
  std::span<Element> scratch_;
};

}  // namespace hetsort::sort
