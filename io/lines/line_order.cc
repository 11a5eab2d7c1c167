// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/lines/line_order.h"

#include <algorithm>
#include <utility>

namespace hetsort::io {

LineOrder::LineOrder(LineOptions options) : options_(std::move(options)) { plain_ = true; }

void LineOrder::normalize(std::span<const std::byte> line, std::vector<std::byte>& key) const {
  key.insert(key.end(), line.begin(), line.end());
}

std::array<std::byte, 16> LineOrder::front(std::span<const std::byte> line) const {
  std::array<std::byte, 16> bytes{};
  std::copy_n(line.begin(), std::min(line.size(), bytes.size()), bytes.begin());
  return bytes;
}

}  // namespace hetsort::io
