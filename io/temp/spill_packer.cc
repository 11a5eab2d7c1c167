// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/temp/spill_packer.h"

#include "io/stopwatch.h"

namespace hetsort::io {

namespace {

// Blocks that are written as they are before the next decision. The first ones fill the staging, which takes no wait.
constexpr std::size_t kRawBlocks = 6;
constexpr std::size_t kRawBlocksThatCount = 2;
// Blocks that are compressed before the next decision: so many that looking at the disk costs little.
constexpr std::size_t kPackedBlocks = 64;
// The disk keeps up if waits take less than this part of the compressor's time.
constexpr double kKeepsUp = 0.1;

}  // namespace

/// Decides whether the next block is compressed.
void SpillPacker::decide(std::size_t block_bytes, double waited_seconds) {
  if (!compresses_ && blocks_ == kRawBlocks - kRawBlocksThatCount) waited_before_ = waited_seconds;
  if (blocks_ == (compresses_ ? kPackedBlocks : kRawBlocks)) {
    const double waited = waited_seconds - waited_before_;
    const double work = static_cast<double>(kRawBlocksThatCount * block_bytes) * seconds_a_byte_;
    compresses_ = waited > (compresses_ ? kKeepsUp * seconds_ : work);
    waited_before_ = waited_seconds;
    seconds_ = 0;
    blocks_ = 0;
  }
  ++blocks_;
}

PackedPieces SpillPacker::pack(std::span<std::byte> block, double waited_seconds) {
  if (wanted_ == SpillCompression::kNo) return {};
  if (wanted_ == SpillCompression::kAuto) {
    decide(block.size(), waited_seconds);
    if (!compresses_) return {};
  }
  if (!packer_) packer_.emplace(wanted_ == SpillCompression::kLz4 ? Compression::kLz4 : Compression::kZstd);
  const Stopwatch watch;
  PackedPieces pieces = packer_->pack(block);
  const double seconds = watch.seconds();
  seconds_ += seconds;
  if (pieces.exist())
    seconds_a_byte_ += (seconds / static_cast<double>(block.size()) - seconds_a_byte_) / kPackedBlocks;
  return pieces;
}

}  // namespace hetsort::io
