// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads single keys of spilled runs. Caches the pages that it has read.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/calls/buffer.h"
#include "io/compression/pieces.h"
#include "io/temp/spill.h"
#include "io/transfer/queue.h"
#include "sort/model/run.h"

namespace hetsort::sort {

/// Reads keys. Thread safety: one thread. Allocates: the pages that were read last, up to 4 MiB or those of one key,
/// until forget().
class RunProbe {
 public:
  RunProbe(std::span<const SpilledRun> runs, const io::SpillSpace& space, const RecordLayout& layout);

  /// The normalized key of record `position` of run `run`. Requires: position < records of the run. Throws: io::Error.
  std::string key(std::size_t run, std::uint64_t position);
  struct FoundLine {
    std::uint64_t first = 0;  ///< position of its first byte
    std::vector<std::byte> line;
  };
  /// The line that contains byte `position` of a run of lines. Requires: as key(). Throws: io::Error.
  FoundLine line_at(std::size_t run, std::uint64_t position);
  /// The key prefix of record `position` if it is in memory, which needs no read; otherwise null.
  const Element* known_prefix(std::size_t run, std::uint64_t position) const;
  /// Frees the pages read so far.
  void forget() {
    read_.clear();
    cached_bytes_ = 0;
  }

 private:
  std::span<const std::byte> bytes_of(const SpilledBlock& block, std::uint64_t first, std::uint64_t bytes);
  std::span<const std::byte> bytes_of_packed(const SpilledBlock& block, std::uint64_t first, std::uint64_t bytes);
  std::vector<std::byte>& cached(const io::SpillPlace& place);
  std::span<const std::byte> read(const io::SpillPlace& place, std::uint64_t bytes);
  void grow(std::vector<std::byte>& bytes, std::size_t size);

  std::span<const SpilledRun> runs_;
  RecordLayout layout_;
  RecordLayout key_span_;  // layout of the part of a record that holds its keys
  std::uint64_t records_per_block_;
  io::Buffer page_;
  std::unique_ptr<io::Queue> queue_;  // continues after short reads, as direct I/O requires
  io::PieceUnpacker unpacker_;
  // maps (file, offset of a page or of a compressed piece) to the bytes from there on, as many as were read
  std::map<std::pair<const io::File*, std::uint64_t>, std::vector<std::byte>> read_;
  std::size_t cached_bytes_ = 0;
};

}  // namespace hetsort::sort
