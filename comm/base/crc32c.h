// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace hetsort::comm {

/// CRC-32C of the bytes; `previous` is that of the bytes before them.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t previous = 0);

}  // namespace hetsort::comm
