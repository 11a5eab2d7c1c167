// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A block as it is sent: whole records, and this trailer behind them. docs/formats/exchange.md describes the messages.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "comm/transport/transport.h"
#include "sort/model/memory_plan.h"

namespace hetsort::sort {

/// The numbers are little-endian as in memory: all ranks run the same program on processors of one architecture.
struct BlockTrailer {
  std::uint32_t source = 0;  ///< the sending rank
  std::uint32_t stream = 0;  ///< number of the stream among those from `source` to the receiver
  std::uint64_t number = 0;  ///< number of the block in its stream, from 0
  std::uint64_t bytes = 0;   ///< bytes of the records in front of the trailer
  std::uint32_t crc32c = 0;  ///< checksum of these records
  std::uint32_t reserved = 0;
};
inline constexpr std::size_t kTrailerBytes = sizeof(BlockTrailer);
static_assert(kTrailerBytes == 32);
static_assert(kMaxBlockBytes + kTrailerBytes + 1024 <= comm::kEagerBytes, "a block and the transport's own header");

/// Bytes of the buffer of a block, in whole pages: the trailer that is a message, records, and the trailer behind them.
inline std::size_t block_room(std::size_t block_bytes) { return round_up(block_bytes + 2 * kTrailerBytes, kPageBytes); }

/// Writes the trailer with sizes and checksum behind the `records`. Requires: kTrailerBytes are writable there.
void seal_block(std::span<std::byte> records, BlockTrailer trailer);

/// Whether a message of so many bytes is the trailer alone. Its records are in the receiver's buffer already, behind
/// the room of the message: the sender has made them there, in memory that both share.
inline bool is_trailer_alone(std::size_t message_bytes) { return message_bytes == kTrailerBytes; }

/// Checks the message at the begin of `buffer` against `expected`, whose bytes and checksum are not used. Returns the
/// records. Throws: io::Error naming `host` if something differs: memory or network changed it.
std::span<const std::byte> open_block(std::span<const std::byte> buffer, std::size_t message_bytes,
                                      const BlockTrailer& expected, const std::string& host);

}  // namespace hetsort::sort
