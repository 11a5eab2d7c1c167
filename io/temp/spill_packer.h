// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Decides which blocks of a thread's runs are compressed, and compresses them.
//
// kAuto compares the time that the thread waits for the disk with the time that the compressor takes. Blocks are
// written as they are while the wait is the shorter one. Else they are compressed, until the disk keeps up with a whole
// batch. Then a few blocks as they are show whether it still would.
#pragma once

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

/// Thread safety: one thread at a time.
class SpillPacker {
 public:
  explicit SpillPacker(SpillCompression wanted) : wanted_(wanted) {}

  /// Compresses `block` where it lies, or leaves it as it is. `waited_seconds`: the time for which the disk has held up
  /// this thread so far.
  PackedPieces pack(std::span<std::byte> block, double waited_seconds);

 private:
  void decide(std::size_t block_bytes, double waited_seconds);

  SpillCompression wanted_;
  std::optional<PiecePacker> packer_;
  // Of kAuto:
  bool compresses_ = false;
  std::size_t blocks_ = 0;             // blocks since the last decision
  double waited_before_ = 0;           // waited_seconds when the waits that count began
  double seconds_ = 0;                 // time of the compressor for these blocks
  double seconds_a_byte_ = 1 / 400e6;  // time of the compressor; at first that of zstd for text
};

}  // namespace hetsort::io
