// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks of gzip data as bgzip(1) writes them: members of at most 64 KiB whose headers say where they end, so that
// several threads can decode them. The format: SAM specification, section 4.1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace hetsort::io {

/// Largest size of a block, compressed or not.
inline constexpr std::size_t kMaxGzipBlockBytes = std::size_t{64} << 10;
/// Bytes that blocks may hold which are decoded at once: zeros have a thousandth of their size in a block.
inline constexpr std::size_t kMaxDecodedGzipBytes = std::size_t{4} << 20;
/// Bytes of a block's header.
inline constexpr std::size_t kGzipBlockHeaderBytes = 18;

/// The compressed size of the block that `from` begins with; none if that is no header of such a block.
std::optional<std::size_t> gzip_block_bytes(std::span<const std::byte> from);

/// Decodes whole blocks that `from` begins with, of which there is one at least, with up to `threads` threads, as far
/// as they hold kMaxDecodedGzipBytes. Returns the bytes that they have in `from`; `into` gets what they hold. Throws:
/// DecodeError.
std::size_t decode_gzip_blocks(std::span<const std::byte> from, unsigned threads, std::vector<std::byte>& into);

/// Appends the blocks that hold `from` to `into`. `level`: 0 to 3.
void encode_gzip_blocks(std::span<const std::byte> from, int level, std::vector<std::byte>& into);

/// Appends the empty block that ends a file.
void end_gzip_blocks(std::vector<std::byte>& into);

}  // namespace hetsort::io
