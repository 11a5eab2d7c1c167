// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/model/exchange_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "io/checksum/checksum.h"
#include "io/error.h"

namespace hetsort::sort {

void seal_block(std::span<std::byte> records, BlockTrailer trailer) {
  trailer.bytes = records.size();
  trailer.crc32c = io::crc32c(records);
  std::memcpy(records.data() + records.size(), &trailer, kTrailerBytes);
}

std::span<const std::byte> open_block(std::span<const std::byte> buffer, std::size_t message_bytes,
                                      const BlockTrailer& expected, const std::string& host) {
  const auto refuse = [&](const std::string& reason) {
    throw io::Error(
        "receive",
        fmt::format("block {} of stream {} from rank {} ({})", expected.number, expected.stream, expected.source, host),
        reason + ": network or memory changed it");
  };
  BlockTrailer trailer;
  if (message_bytes < kTrailerBytes) refuse(fmt::format("corrupt block: only {} bytes", message_bytes));
  std::memcpy(&trailer, buffer.data() + message_bytes - kTrailerBytes, kTrailerBytes);
  std::span<const std::byte> records = buffer.first(message_bytes - kTrailerBytes);
  if (is_trailer_alone(message_bytes)) {
    records = buffer.subspan(kTrailerBytes);
    records = records.first(std::min<std::size_t>(records.size(), trailer.bytes));
  }
  if (trailer.source != expected.source || trailer.stream != expected.stream || trailer.number != expected.number ||
      trailer.bytes != records.size() || trailer.reserved != 0)
    refuse(fmt::format("corrupt block: it says block {} of stream {} from rank {}, {} bytes", trailer.number,
                       trailer.stream, trailer.source, trailer.bytes));
  if (trailer.crc32c != io::crc32c(records)) refuse("corrupt block: its checksum is wrong");
  return records;
}

}  // namespace hetsort::sort
