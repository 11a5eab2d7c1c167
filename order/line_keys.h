// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Lines in memory: where they end, and their keys. A line includes its terminator, except where it is called a text.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "order/key_prefix.h"
#include "order/lines/line_order.h"

namespace hetsort::order {

/// Three-way comparison of normalized keys: by bytes, and the shorter first if it begins the other.
inline int compare_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  const std::size_t common = std::min(a.size(), b.size());
  const int order = common == 0 ? 0 : std::memcmp(a.data(), b.data(), common);
  if (order != 0 || a.size() == b.size()) return order;
  return a.size() < b.size() ? -1 : 1;
}

/// The number of terminators in `bytes`.
inline std::uint64_t count_lines(std::span<const std::byte> bytes, std::byte terminator) {
  return static_cast<std::uint64_t>(std::count(bytes.begin(), bytes.end(), terminator));
}

/// What a phase asks about lines and their keys. Cheap to make. Keeps a reference to the order.
class LineKeys {
 public:
  explicit LineKeys(const LineOrder& order)
      : order_(order), terminator_(static_cast<std::byte>(order.terminator())), plain_(order.is_plain()) {}

  std::byte terminator() const { return terminator_; }
  /// The byte behind the first terminator of [first, end); `end` if there is none.
  const std::byte* end_of_line(const std::byte* first, const std::byte* end) const {
    const void* const found =
        std::memchr(first, std::to_integer<int>(terminator_), static_cast<std::size_t>(end - first));
    return found == nullptr ? end : static_cast<const std::byte*>(found) + 1;
  }
  /// The line at `first`. Requires: it has a terminator.
  std::span<const std::byte> line_at(const std::byte* first) const {
    const auto* const found = static_cast<const std::byte*>(::rawmemchr(first, std::to_integer<int>(terminator_)));
    return {first, found + 1};
  }
  /// Whether `bytes` end with a terminator.
  bool is_whole(std::span<const std::byte> bytes) const { return !bytes.empty() && bytes.back() == terminator_; }
  /// The number of leading bytes that are whole lines.
  std::size_t whole_lines(std::span<const std::byte> bytes) const {
    const void* const found = ::memrchr(bytes.data(), std::to_integer<int>(terminator_), bytes.size());
    return found == nullptr ? 0 : static_cast<std::size_t>(static_cast<const std::byte*>(found) + 1 - bytes.data());
  }

  /// The normalized key: in the line itself if the order is plain, otherwise in `room`.
  std::span<const std::byte> key(std::span<const std::byte> line, std::vector<std::byte>& room) const {
    const std::span<const std::byte> text = line.first(line.size() - 1);
    if (plain_) return text;
    room.clear();
    order_.normalize(text, room);
    return room;
  }
  /// The first bytes of the normalized key as an Element of place 0.
  Element prefix(std::span<const std::byte> line) const {
    if (plain_ && line.size() > kReadableSlackBytes) return prefix_of_bytes(line.data(), kPrefixBytes);
    std::array<std::byte, kReadableSlackBytes> front{};
    if (plain_)
      std::copy_n(line.begin(), line.size() - 1, front.begin());
    else
      front = order_.front(line.first(line.size() - 1));
    return prefix_of_bytes(front.data(), kPrefixBytes);
  }
  /// The bytes of the normalized key from byte `depth` on, as an Element of place 0. Requires: the key has so many
  /// bytes.
  Element prefix(std::span<const std::byte> line, std::size_t depth, std::vector<std::byte>& room) const {
    std::array<std::byte, kReadableSlackBytes> front{};
    const std::span<const std::byte> rest = key(line, room).subspan(depth);
    std::copy_n(rest.begin(), std::min(rest.size(), kPrefixBytes), front.begin());
    return prefix_of_bytes(front.data(), kPrefixBytes);
  }
  int compare(std::span<const std::byte> a, std::span<const std::byte> b) const {
    if (a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0) return 0;
    if (plain_) return compare_bytes(a.first(a.size() - 1), b.first(b.size() - 1));
    return order_.compare(a.first(a.size() - 1), b.first(b.size() - 1));
  }

 private:
  const LineOrder& order_;
  std::byte terminator_;
  bool plain_;
};

}  // namespace hetsort::order
