// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/transport/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "comm/base/crc32c.h"
#include "comm/base/packing.h"

namespace hetsort::comm {

namespace {

constexpr std::size_t kChecksumBytes = sizeof(std::uint32_t);

}  // namespace

Frame make_frame(std::uint32_t sequence, const Bytes& message) {
  if (message.size() > kMaxControlBytes)
    throw std::length_error(fmt::format("a control message of {} bytes is too long", message.size()));
  const auto border = message.begin() + static_cast<std::ptrdiff_t>(std::min(message.size(), kInlineBytes));
  Frame frame;
  frame.rest.assign(border, message.end());
  Packer body;
  body.value(sequence);
  body.number(message.size());
  body.value(crc32c(frame.rest));
  body.value(std::uint32_t{0});
  body.raw(Bytes(message.begin(), border));
  const Bytes bytes = body.take();
  Packer packer;
  packer.value(crc32c(bytes));
  packer.raw(bytes);
  frame.first = packer.take();
  return frame;
}

Bytes make_goodbye(std::uint32_t sequence) { return make_frame(sequence, {}).first; }

std::optional<FramePart> read_first_part(std::span<const std::byte> part) {
  if (part.size() < kFrameHeaderBytes || part.size() > kFirstPartBytes) return std::nullopt;
  const Bytes bytes(part.begin(), part.end());
  Unpacker unpacker(bytes);
  if (unpacker.value<std::uint32_t>() != crc32c(part.subspan(kChecksumBytes))) return std::nullopt;
  FramePart read;
  read.sequence = unpacker.value<std::uint32_t>();
  read.length = unpacker.number();
  read.rest_checksum = unpacker.value<std::uint32_t>();
  unpacker.value<std::uint32_t>();
  read.bytes = unpacker.bytes(unpacker.left());
  if (read.length > kMaxControlBytes || read.bytes.size() != std::min(read.length, kInlineBytes)) return std::nullopt;
  return read;
}

}  // namespace hetsort::comm
