// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Compressed files that are written as streams.
//
// In: bytes, from front to back. Out: independent frames of 1 MiB of them each (gzip: blocks of bgzip(1)), one behind
// the other, which the usual tools read. Idea: several threads compress a batch of frames while the next is filled.
// Cost: about 4 MiB of memory a thread.
#pragma once

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

/// A filter for File::write_through(). `threads`: the most that compress at a time, at least 1. Requires: not kNone.
std::unique_ptr<WriteFilter> make_compressor(const CompressionLevel& level, unsigned threads);

}  // namespace hetsort::io
