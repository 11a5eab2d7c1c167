// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes one byte range of the output. With direct I/O only whole pages are written directly; the partial pages at the
// range's two ends, which it shares with its neighbours, are written buffered, its own bytes only.
#pragma once

#include <cstdint>
#include <vector>

#include "io/file.h"
#include "sort/output/record_sink.h"
#include "sort/output/staging.h"

namespace hetsort::sort {

/// The output as its writers see it.
struct OutputFiles {
  const io::File* buffered = nullptr;
  const io::File* direct = nullptr;  ///< the same file opened for direct I/O; null = write everything buffered
};

class RangeWriter : public RecordSink {
 public:
  /// Requires: `ring` has blocks that hold a record and two pages.
  RangeWriter(const OutputFiles& files, StagingRing& ring, std::size_t record_bytes, std::uint64_t first_byte);

  std::span<std::byte> room() override;
  void commit(std::size_t bytes) override;
  void finish() override;

 private:
  void flush();
  void write_head();

  OutputFiles files_;
  StagingRing* ring_;
  std::size_t record_bytes_;
  std::size_t alignment_;
  std::size_t capacity_;        // of a block, without the slack behind it into which the last record may reach
  std::uint64_t block_offset_;  // in the file, of the current block's first byte (aligned)
  std::size_t skipped_;         // bytes at the block's start that belong to the range before
  std::size_t filled_;          // bytes in the block, the skipped ones included
  std::vector<std::byte> head_;
  std::uint64_t head_offset_ = 0;
  std::byte* block_ = nullptr;
};

}  // namespace hetsort::sort
