// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The form of a control message on the wire: a first part of at most kFirstPartBytes and, if the message is longer, a
// second part with the rest.
//
//   offset  bytes  first part
//        0      4  CRC-32C of all that follows in the first part
//        4      4  sequence number among the messages of this sender and channel, from 0
//        8      8  length of the message
//       16      4  CRC-32C of the second part; 0 without one
//       20      4  0
//       24         the first bytes of the message
//
// A header alone is the goodbye: the sender's last message. Its size identifies it, so that damage to it is harmless.
// Its sequence number shows whether the message before it was lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "comm/base/types.h"

namespace hetsort::comm {

inline constexpr std::size_t kFirstPartBytes = 2048;
inline constexpr std::size_t kFrameHeaderBytes = 24;
/// The longest message that needs no second part.
inline constexpr std::size_t kInlineBytes = kFirstPartBytes - kFrameHeaderBytes;
/// Longer messages are refused. Control messages are short; the exchange has messages of its own.
inline constexpr std::size_t kMaxControlBytes = std::size_t{1} << 30;

struct Frame {
  Bytes first;
  Bytes rest;
};

/// Frames a message. Throws: std::length_error if it is too long.
Frame make_frame(std::uint32_t sequence, const Bytes& message);
Bytes make_goodbye(std::uint32_t sequence);

/// A first part that arrived.
struct FramePart {
  std::uint32_t sequence = 0;
  std::size_t length = 0;  ///< bytes of the whole message
  std::uint32_t rest_checksum = 0;
  Bytes bytes;
};

/// The first part of a message, or a goodbye, whose length is 0. None if the part is damaged.
std::optional<FramePart> read_first_part(std::span<const std::byte> part);

}  // namespace hetsort::comm
