// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/temp/spill_packer.h"

#include <algorithm>

#include "io/stopwatch.h"

namespace hetsort::io {

namespace {

// Blocks that are written as they are before the disk is found slow, and before it is found fast.
constexpr std::size_t kRawBlocks = 6;
constexpr std::size_t kMostRawBlocks = 64;
// Blocks over which the time of the compressor is averaged.
constexpr std::size_t kMeanBlocks = 64;
// The disk keeps up if waits take less than this part of the compressor's time.
constexpr double kKeepsUp = 0.1;

}  // namespace

/// Decides whether the next block is compressed. Waits for blocks as they are add up, because those that fill the
/// staging, and those at the begin of a run, show none.
void SpillPacker::decide(std::size_t block_bytes, double waited_seconds) {
  const double waited = waited_seconds - waited_before_;
  const double work = compresses_ ? kKeepsUp * seconds_ : static_cast<double>(blocks_ * block_bytes) * seconds_a_byte_;
  const bool is_slow = waited > work;
  const bool knows = compresses_ ? blocks_ >= batch_ : blocks_ >= (is_slow ? kRawBlocks : kMostRawBlocks);
  if (knows) {
    if (looks_) batch_ = is_slow ? std::min(2 * batch_, SpillPace::kLargestBatch) : SpillPace::kSmallestBatch;
    looks_ = compresses_ && !is_slow;
    compresses_ = is_slow;
    waited_before_ = waited_seconds;
    seconds_ = 0;
    blocks_ = 0;
    if (pace_ != nullptr) {
      pace_->compresses = compresses_;
      pace_->looks = looks_;
      pace_->batch = batch_;
      pace_->blocks = 0;
    }
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
  if (pieces.exist()) seconds_a_byte_ += (seconds / static_cast<double>(block.size()) - seconds_a_byte_) / kMeanBlocks;
  return pieces;
}

}  // namespace hetsort::io
