// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/compression/decoder_memory.h"

// The functions that say what a context takes are declared only for those who define this.
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include <algorithm>

#include "io/compression/gzip_blocks.h"
#include "io/error.h"
#include "io/field.h"
#include "io/file_system.h"

namespace hetsort::io {

namespace {

// State of a decoder of gzip, with its window of 32 KiB.
constexpr std::uint64_t kGzipStateBytes = std::uint64_t{128} << 10;

bool read_header(std::span<const std::byte> front, ZSTD_frameHeader& header) {
  return ZSTD_getFrameHeader(&header, front.data(), front.size()) == 0;
}

/// The first frame that is not skipped, as far as `front` has it. Zstd and lz4 skip the same ones.
std::span<const std::byte> without_skipped_frames(std::span<const std::byte> front) {
  ZSTD_frameHeader header{};
  while (read_header(front, header) && header.frameType == ZSTD_skippableFrame)
    front = front.subspan(std::min<std::uint64_t>(front.size(), ZSTD_SKIPPABLEHEADERSIZE + header.frameContentSize));
  return front;
}

std::uint64_t zstd_bytes(std::span<const std::byte> front) {
  ZSTD_frameHeader header{};
  if (!read_header(front, header)) return ZSTD_estimateDStreamSize(0);
  // A window is no larger than the data, if their size is known.
  return ZSTD_estimateDStreamSize(std::min<std::uint64_t>(header.windowSize, header.frameContentSize));
}

/// Linked blocks are decoded behind the one before, and their compressed bytes are collected.
std::uint64_t lz4_bytes(std::span<const std::byte> front) {
  constexpr std::size_t kBlockSizeAt = 5;
  const unsigned code = front.size() > kBlockSizeAt ? std::to_integer<unsigned>(front[kBlockSizeAt]) >> 4 & 7U : 4;
  return 2 * (std::uint64_t{64} << 10 << 2 * (std::max(code, 4U) - 4)) + (std::uint64_t{256} << 10);
}

}  // namespace

std::uint64_t decoder_bytes(Compression format, std::span<const std::byte> front) {
  if (format == Compression::kNone) return 0;
  if (format == Compression::kGzip)
    return kCompressedReadBytes + (gzip_block_bytes(front) ? kMaxDecodedGzipBytes : kGzipStateBytes);
  front = without_skipped_frames(front);
  return kCompressedReadBytes + (format == Compression::kZstd ? zstd_bytes(front) : lz4_bytes(front));
}

std::uint64_t memory_beside_decoders(const MemoryToShare& memory, std::uint64_t needed_bytes, const std::string& path) {
  constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;
  const std::uint64_t charged_bytes = needed_bytes - std::min(needed_bytes, kFreeDecoderBytes);
  if (charged_bytes == 0) return memory.bytes;
  const std::uint64_t least = (charged_bytes + memory.least_rest_bytes + kMebibyte - 1) / kMebibyte;
  if (memory.bytes < least * kMebibyte)
    throw Error("decompress", path,
                "the windows in which it was compressed take " + human_size(needed_bytes) + " of memory, and " +
                    field("memory") + " allows " + human_size(memory.bytes) + ": give " + field("memory") + " " +
                    std::to_string(least) + "M or more");
  return memory.bytes - charged_bytes;
}

}  // namespace hetsort::io
