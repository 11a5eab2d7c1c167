// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Compressed files that are read as streams of what they hold.
//
// In: a file, at its start. Out: the same file; File::read() returns what its compressed data hold. Idea: the thread
// that reads decodes, so that nothing must be told about an end or a failure; blocks of bgzip(1) are decoded by several
// threads. Cost: memory for the window of the data (decoder_memory.h), besides 1 MiB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "io/compression/decoder_memory.h"
#include "io/file.h"
#include "io/format/compression.h"

namespace hetsort::io {

/// The format of data that begin with `front`. The signatures are those of foreign.h.
Compression compression_of(std::span<const std::byte> front);

/// Reads the first bytes of a stream. If they are those of a compressed format, reading returns what is compressed,
/// else all bytes as they are. Returns the bytes that decoding takes, as far as the first bytes show it; 0 if nothing
/// is compressed. `threads`: the most that decode at a time. `memory`: from where each frame takes what its decoding
/// takes; null = the stream decodes windows of up to 128 MiB. Reading throws: Error, which names the offset at which
/// the data are damaged, end too early or need more memory.
std::uint64_t decompress_stream(File& file, unsigned threads, std::shared_ptr<DecoderMemory> memory = nullptr);

}  // namespace hetsort::io
