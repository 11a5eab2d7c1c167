// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Decides which blocks of a thread's runs are compressed, and compresses them.
//
// kAuto compares the time that the thread waits for the disk with the time that the compressor takes. Blocks are
// written as they are while the wait is the shorter one. Else they are compressed, until the disk keeps up with a whole
// batch. Then a few blocks as they are show whether it still would. If it would not, the next batch is twice as large.
// What one packer has found out is where the next one of the same spill space begins.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "io/compression/pieces.h"

namespace hetsort::io {

/// Which blocks of spilled runs are compressed. kAuto: those (by zstd) for which the disk is slower than the
/// compressor.
enum class SpillCompression : std::uint8_t { kNo, kZstd, kLz4, kAuto };
/// Whether all blocks are compressed that get smaller.
constexpr bool names_format(SpillCompression compression) {
  return compression == SpillCompression::kZstd || compression == SpillCompression::kLz4;
}

/// What packers have found out about the disk. Thread safety: any thread.
struct SpillPace {
  static constexpr std::size_t kSmallestBatch = 64;  ///< so many that looking at the disk costs little
  static constexpr std::size_t kLargestBatch = 1024;

  std::atomic<bool> compresses{false};
  std::atomic<bool> looks{false};                  ///< blocks as they are follow a batch
  std::atomic<std::size_t> batch{kSmallestBatch};  ///< blocks to compress before the disk is looked at again
  std::atomic<std::size_t> blocks{0};              ///< blocks of a batch that are compressed already
};

/// Thread safety: one thread at a time.
class SpillPacker {
 public:
  /// `pace`: where kAuto begins, and what it finds out; null = it begins anew. Requires: it outlives the packer.
  explicit SpillPacker(SpillCompression wanted, SpillPace* pace = nullptr) : wanted_(wanted), pace_(pace) {
    if (pace_ == nullptr) return;
    compresses_ = pace_->compresses;
    looks_ = pace_->looks;
    batch_ = pace_->batch;
    blocks_ = compresses_ ? pace_->blocks.load() : 0;
  }
  SpillPacker(const SpillPacker&) = delete;
  SpillPacker& operator=(const SpillPacker&) = delete;
  ~SpillPacker() {
    if (pace_ != nullptr && compresses_) pace_->blocks = blocks_;
  }

  /// Compresses `block` where it lies, or leaves it as it is. `waited_seconds`: the time for which the disk has held up
  /// this thread so far.
  PackedPieces pack(std::span<std::byte> block, double waited_seconds);

 private:
  void decide(std::size_t block_bytes, double waited_seconds);

  SpillCompression wanted_;
  SpillPace* pace_;
  std::optional<PiecePacker> packer_;
  // Of kAuto:
  bool compresses_ = false;
  bool looks_ = false;                             // these blocks as they are follow a batch
  std::size_t batch_ = SpillPace::kSmallestBatch;  // blocks that are compressed before the next decision
  std::size_t blocks_ = 0;                         // blocks since the last decision
  double waited_before_ = 0;                       // waited_seconds when the waits that count began
  double seconds_ = 0;                             // time of the compressor for these blocks
  double seconds_a_byte_ = 1 / 400e6;              // time of the compressor; at first that of zstd for text
};

}  // namespace hetsort::io
