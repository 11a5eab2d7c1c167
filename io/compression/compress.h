// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Compressed files that are written as streams.
//
// In: bytes, from front to back. Out: independent frames of 1 MiB of them each (gzip: blocks of bgzip(1)), one behind
// the other, which the usual tools read. Idea: several threads compress a batch of frames while the next is filled.
// Cost: the memory of compressor_bytes() a thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "io/format/compression.h"
#include "io/stream_filter.h"

namespace hetsort::io {

/// How an output is compressed.
struct CompressionLevel {
  Compression format = Compression::kNone;
  int level = 0;  ///< one of levels_of(), or 0 for the usual one
};

struct LevelRange {
  int least = 0;
  int most = 0;
};

/// The levels that can be chosen. Requires: not kNone.
LevelRange levels_of(Compression format);

/// Bytes that all compressors of a process may take beside its memory: enough for as many threads as ever compress at
/// the usual level.
inline constexpr std::uint64_t kFreeCompressorBytes = std::uint64_t{34} << 20;

/// Bytes that `threads` threads take that compress; 0 for kNone.
std::uint64_t compressor_bytes(const CompressionLevel& level, std::size_t threads);

/// How many of `threads` threads have room in `bytes`, at least 1. More than a few would not help any output.
std::size_t threads_that_compress(const CompressionLevel& level, std::size_t threads, std::uint64_t bytes);

/// A filter for File::write_through(). `threads`: those that compress at a time, at least 1. Requires: not kNone.
std::unique_ptr<WriteFilter> make_compressor(const CompressionLevel& level, std::size_t threads);

}  // namespace hetsort::io
