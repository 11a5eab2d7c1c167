// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes one sorted run into the spill space.
#pragma once

#include <cassert>
#include <cstdint>
#include <limits>

#include "io/temp/spill.h"
#include "io/temp/spill_packer.h"
#include "sort/model/record_sink.h"
#include "sort/model/run.h"
#include "sort/output/staging.h"

namespace hetsort::sort {

/// The number of whole records in a spill block; the rest of the block is padding.
inline std::size_t records_per_block(const io::SpillSpace& space, const RecordLayout& layout) {
  return space.block_bytes() / layout.record_bytes;
}

class SpillWriter : public RecordSink {
 public:
  /// Writes the run to blocks that it takes from `space`. `prefix_bytes`: bytes of records from one key prefix in
  /// memory to the next; not more than a block. `packer` decides which blocks are compressed; null = none. Requires:
  /// the ring's blocks hold such a block and a page.
  SpillWriter(io::SpillSpace& space, StagingRing& ring, const RecordLayout& layout,
              std::uint64_t prefix_bytes = std::numeric_limits<std::uint64_t>::max(),
              io::SpillPacker* packer = nullptr);

  std::span<std::byte> room() override;
  void commit(std::size_t bytes) override;
  void finish() override;
  /// The run as written. Requires: finish() was called.
  SpilledRun take_run() {
    assert(filled_ == 0);
    return std::move(run_);
  }

 private:
  void flush();

  io::SpillSpace* space_;
  StagingRing* ring_;
  io::SpillPacker* packer_;
  RecordLayout layout_;
  std::size_t capacity_;
  std::size_t filled_ = 0;
  SpilledRun run_;
};

}  // namespace hetsort::sort
