// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Compressed files that are read as streams of what they hold.
//
// In: a file, at its start. Out: the same file; File::read() returns what its compressed data hold. Idea: the thread
// that reads decodes, so that nothing must be told about an end or a failure; blocks of bgzip(1) are decoded by several
// threads. Cost: about 4 MiB of memory.
#pragma once

#include <cstddef>
#include <span>

#include "io/file.h"
#include "io/format/compression.h"

namespace hetsort::io {

/// The format of data that begin with `front`. The signatures are those of foreign.h.
Compression compression_of(std::span<const std::byte> front);

/// Reads the first bytes of a stream. If they are those of a compressed format, reading returns what is compressed,
/// else all bytes as they are. Returns whether it is compressed. `threads`: the most that decode at a time. Reading
/// throws: Error, which names the offset at which the data are damaged or end too early.
bool decompress_stream(File& file, unsigned threads);

}  // namespace hetsort::io
