// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The memory that decoders take, which is that of the window in which their data were compressed.
//
// In: the first bytes of compressed data. Out: the bytes that decoding them takes. Idea: what decoders take beyond a
// small constant belongs to the memory that the caller may use, and is subtracted before the caller plans with it. A
// later frame that needs more than was planned is refused before its window is allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "io/format/compression.h"

namespace hetsort::io {

/// Bytes that all decoders of a process may take beside its memory: enough for a window of 8 MiB, the largest that
/// zstd's levels up to 19 use, or for two blocks of 4 MiB, the largest ones of lz4.
inline constexpr std::uint64_t kFreeDecoderBytes = std::uint64_t{12} << 20;

/// Compressed bytes that a decoder reads at once.
inline constexpr std::size_t kCompressedReadBytes = std::size_t{1} << 20;

/// Bytes of a front that show what decoding takes, unless frames that are skipped precede the data.
inline constexpr std::size_t kMaxFrameHeaderBytes = 18;

/// Bytes that decoding a frame of this format takes, of which `front` are the first bytes. Frames that are skipped are
/// passed over. Bytes that begin no frame need as much as a small one.
std::uint64_t decoder_bytes(Compression format, std::span<const std::byte> front);

/// What all decoders of an input may take together. Thread safety: one thread at a time.
class DecoderMemory {
 public:
  /// Allows decoders to take `bytes`, or kFreeDecoderBytes if that is more.
  void allow(std::uint64_t bytes) { allowed_ = bytes > kFreeDecoderBytes ? bytes : kFreeDecoderBytes; }
  std::uint64_t allowed() const { return allowed_; }
  /// Takes memory for a decoder. Returns whether there was as much.
  bool take(std::uint64_t bytes) {
    if (bytes > allowed_ - taken_) return false;
    taken_ += bytes;
    return true;
  }
  void give_back(std::uint64_t bytes) { taken_ -= bytes; }

 private:
  std::uint64_t allowed_ = kFreeDecoderBytes;
  std::uint64_t taken_ = 0;
};

/// The memory of a caller that decompresses.
struct MemoryToShare {
  std::uint64_t bytes = 0;
  std::uint64_t least_rest_bytes = std::uint64_t{1} << 20;  ///< the least that must remain beside decoders
};

/// The part of `memory` that remains beside decoders that take `needed_bytes` together. Throws: Error, which names
/// `path` and the least memory that suffices, in whole mebibytes.
std::uint64_t memory_beside_decoders(const MemoryToShare& memory, std::uint64_t needed_bytes, const std::string& path);

}  // namespace hetsort::io
