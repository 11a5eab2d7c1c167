// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks of bytes that are compressed where they lie.
//
// In: a block in memory. Out: the same memory, with the block's pieces of 64 KiB at its front, each compressed by
// itself, and where each of them ends. Idea: any piece can be read without the others; no piece becomes larger, so that
// a block needs no other memory on its way there and back. Cost: memory of a piece and of the library's state, below 1
// MiB.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "io/format/compression.h"

namespace hetsort::io {

/// Bytes of every piece but the last one, which may be smaller.
inline constexpr std::size_t kPieceBytes = std::size_t{64} << 10;

/// How a block is compressed.
struct PackedPieces {
  Compression format = Compression::kNone;
  std::uint32_t block_bytes = 0;      ///< bytes of the block before
  std::vector<std::uint32_t> ends{};  ///< ends of the pieces in the compressed block; empty = not compressed

  bool exist() const { return !ends.empty(); }
  /// Bytes of the compressed block.
  std::size_t bytes() const { return ends.back(); }
  std::size_t begin(std::size_t piece) const { return piece == 0 ? 0 : ends[piece - 1]; }
  /// Bytes of a piece before.
  std::size_t piece_bytes(std::size_t piece) const { return std::min(kPieceBytes, block_bytes - piece * kPieceBytes); }
};

/// Compresses blocks. Thread safety: one thread at a time.
class PiecePacker {
 public:
  /// Requires: kZstd or kLz4. Throws: std::bad_alloc.
  explicit PiecePacker(Compression format);
  PiecePacker(const PiecePacker&) = delete;
  PiecePacker& operator=(const PiecePacker&) = delete;
  ~PiecePacker();

  /// Compresses `block` where it lies. The block stays as it is, and no pieces exist, if its first piece shows that it
  /// would not get much smaller. Requires: less than 4 GiB.
  PackedPieces pack(std::span<std::byte> block);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Decompresses blocks. Thread safety: one thread at a time.
class PieceUnpacker {
 public:
  /// Memory is allocated when the first piece is decompressed.
  PieceUnpacker();
  PieceUnpacker(const PieceUnpacker&) = delete;
  PieceUnpacker& operator=(const PieceUnpacker&) = delete;
  ~PieceUnpacker();

  /// Decompresses a piece, whose compressed bytes are `from` and may overlap with `into`. Returns false if they are
  /// damaged. Requires: piece_bytes(piece) bytes of room. Throws: std::bad_alloc.
  bool unpack(const PackedPieces& pieces, std::size_t piece, std::span<const std::byte> from, std::byte* into);
  /// Decompresses a whole block to the front of `memory`. Its compressed bytes begin at `at` there. Returns false if
  /// they are damaged. Requires: they end behind the place of the block's end. Throws: std::bad_alloc.
  bool unpack_block(const PackedPieces& pieces, std::byte* memory, std::size_t at);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hetsort::io
