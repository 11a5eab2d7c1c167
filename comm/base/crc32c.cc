// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/base/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>

namespace hetsort::comm {

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t previous) {
  constexpr std::size_t kMaxPart = std::size_t{1} << 30;  // the library counts in int
  std::uint32_t inverted = ~previous;
  while (!bytes.empty()) {
    const std::size_t part = std::min(bytes.size(), kMaxPart);
    // The library's interface lacks a const.
    auto* const data = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(bytes.data()));
    inverted = ::crc32_iscsi(data, static_cast<int>(part), inverted);
    bytes = bytes.subspan(part);
  }
  return ~inverted;
}

}  // namespace hetsort::comm
