// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Portions of a rank's own runs, as blocks for other ranks and as streams of its own merge.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sort/exchange/outgoing_streams.h"
#include "sort/model/record_streams.h"
#include "sort/runs/memory_run.h"
#include "sort/runs/run_reader.h"

namespace hetsort::sort {

/// Records [first, last) of a run in memory. Portions that are copied concurrently must not share an unsorted bucket.
struct MemoryPortion {
  const MemoryRun* run = nullptr;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

/// The contents of a stream: portions of one run, one after the other.
using MemoryPortions = std::vector<MemoryPortion>;

/// Buffers of a stream's blocks, which are used in turn.
struct BlockRing {
  std::byte* first = nullptr;
  std::size_t stride = 0;  ///< bytes from one buffer to the next
};

/// Blocks of portions in memory. A block has records of one portion only.
class MemoryBlocks : public BlockSource {
 public:
  /// Block n of a portion holds its records [n * block_records, (n + 1) * block_records).
  static StreamSize size_of(const MemoryPortion& portion, std::uint64_t block_records);
  struct Shape {
    std::size_t record_bytes = 0;
    std::uint64_t block_records = 0;
    std::size_t depth = kInitialCredits;  ///< number of blocks of each stream that fit in memory
  };
  /// `memory`: block_room() bytes for each block of each stream.
  MemoryBlocks(const std::vector<MemoryPortions>& streams, const Shape& shape, std::span<std::byte> memory);

  std::size_t depth() const override { return shape_.depth; }
  std::span<std::byte> next(std::size_t stream) override;
  bool is_at_receiver(std::size_t stream) const override { return cursors_[stream].is_at_receiver; }
  /// Adds a portion at the end of a stream.
  void append(std::size_t stream, const MemoryPortion& portion) { cursors_[stream].portions.push_back(portion); }
  /// Makes all blocks of a stream in the buffers of its receiver. Requires: next() was not called for it.
  void make_at_receiver(std::size_t stream, const BlockRing& ring) {
    cursors_[stream].ring = ring;
    cursors_[stream].is_at_receiver = true;
  }

 private:
  struct Cursor {
    MemoryPortions portions;  // portions of the stream; the current one has what is left of it
    BlockRing ring;
    bool is_at_receiver = false;
    std::size_t at = 0;                 // number of the current portion
    std::uint64_t blocks = 0;           // blocks returned so far
    std::optional<RunCursor> in_run{};  // position in the current portion, once it was begun
  };

  std::vector<Cursor> cursors_;
  Shape shape_;
  std::unique_ptr<Element[]> scratch_;  // not zeroed: small runs leave most of it untouched
};

/// Blocks of portions of spilled runs. A block is one spilled block, or the part of it inside the portion.
class SpilledBlocks : public BlockSource {
 public:
  static StreamSize size_of(const SpilledPortion& portion, std::uint64_t records_per_block);
  /// `memory` and `queue`: as RunReader takes them.
  SpilledBlocks(const io::SpillSpace& space, const RecordLayout& layout, const std::vector<SpilledPortions>& streams,
                std::span<std::byte> memory, std::unique_ptr<io::Queue> queue);

  std::size_t depth() const override { return 1; }
  std::span<std::byte> next(std::size_t stream) override;
  /// Adds a portion at the end of a stream. Throws: io::Error.
  void append(std::size_t stream, const SpilledPortion& portion) { reader_.append(stream, portion); }

 private:
  std::span<std::byte> memory_;
  std::unique_ptr<io::Queue> queue_;
  RunReader reader_;
};

/// Blocks of two sources. Each stream has all its blocks from one of them.
class MixedBlocks : public BlockSource {
 public:
  /// `is_spilled`: for each stream, whether it is the next one of `spilled` or the next one of `in_memory`.
  MixedBlocks(std::unique_ptr<BlockSource> in_memory, std::unique_ptr<BlockSource> spilled,
              const std::vector<bool>& is_spilled);

  std::size_t depth() const override { return std::min(in_memory_->depth(), spilled_->depth()); }
  std::span<std::byte> next(std::size_t stream) override {
    return places_[stream].source->next(places_[stream].stream);
  }

 private:
  struct Place {
    BlockSource* source = nullptr;
    std::size_t stream = 0;
  };

  std::unique_ptr<BlockSource> in_memory_;
  std::unique_ptr<BlockSource> spilled_;
  std::vector<Place> places_;
};

/// Portions in memory as streams of a merge on this rank. Allocates: about 128 KiB, and at least a record a portion.
class MemoryStreams : public RecordStreams {
 public:
  /// `scratch`: BucketIndex::kScratchElements elements.
  MemoryStreams(const std::vector<MemoryPortion>& portions, std::size_t record_bytes, std::span<Element> scratch);

  std::size_t streams() const override { return streams_.size(); }
  std::span<const std::byte> next(std::size_t stream) override;

 private:
  struct Stream {
    MemoryPortion left;
    std::vector<std::byte> piece;
    std::optional<RunCursor> in_run{};
  };

  std::vector<Stream> streams_;
  std::size_t record_bytes_;
  std::uint64_t piece_records_;
  std::span<Element> scratch_;
};

}  // namespace hetsort::sort
