// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/bytes.h"

namespace hetsort::comm {

void append(Bytes& bytes, const void* data, std::size_t count) {
  const auto* begin = static_cast<const std::byte*>(data);
  bytes.insert(bytes.end(), begin, begin + count);
}

}  // namespace hetsort::comm
