// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes one byte range of the output. Direct I/O writes whole pages. The partial pages at both ends of the range are
// shared with its neighbours: there only the bytes of the range are written, buffered.
#pragma once

#include <cstdint>
#include <vector>

#include "io/file.h"
#include "sort/model/record_sink.h"
#include "sort/output/staging.h"

namespace hetsort::sort {

/// The open files of an output.
struct OutputFiles {
  const io::File* buffered = nullptr;
  const io::File* direct = nullptr;  ///< file reopened for direct I/O; null = write everything buffered
};

class RangeWriter : public RecordSink {
 public:
  /// Writes the range that begins at `first_byte` of the file. Requires: `ring` has blocks that hold a record and two
  /// pages.
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
  std::size_t capacity_;        // bytes of a block, without the slack behind it into which the last record may reach
  std::uint64_t block_offset_;  // place in the file of the current block's first byte (aligned)
  std::size_t skipped_;         // bytes at the block's start that belong to the range before
  std::size_t filled_;          // bytes in the block, the skipped ones included
  std::vector<std::byte> head_;
  std::uint64_t head_offset_ = 0;
  std::byte* block_ = nullptr;
};

}  // namespace hetsort::sort
