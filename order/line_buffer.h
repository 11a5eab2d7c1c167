// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A line that is collected from pieces. A long one grows where it lies, so that no second copy of it is made meanwhile.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "io/calls/buffer.h"

namespace hetsort::order {

class LineBuffer {
 public:
  LineBuffer() = default;
  LineBuffer(const LineBuffer& other) { append(other.bytes()); }
  LineBuffer(LineBuffer&&) = default;
  LineBuffer& operator=(const LineBuffer& other) { return *this = LineBuffer(other); }
  LineBuffer& operator=(LineBuffer&&) = default;
  ~LineBuffer() = default;

  std::span<const std::byte> bytes() const {
    return long_.data() == nullptr ? std::span<const std::byte>(short_) : long_.span().first(long_bytes_);
  }
  bool empty() const { return size() == 0; }
  std::size_t size() const { return long_.data() == nullptr ? short_.size() : long_bytes_; }
  void append(std::span<const std::byte> bytes) {
    if (long_.data() == nullptr && short_.size() + bytes.size() <= kMaxShortBytes) {
      short_.insert(short_.end(), bytes.begin(), bytes.end());
      return;
    }
    const std::size_t before = size();
    const std::size_t wanted = before + bytes.size();
    if (long_.data() == nullptr) {
      long_ = io::Buffer(2 * wanted);
      std::ranges::copy(std::exchange(short_, {}), long_.data());
    } else if (wanted > long_.size_bytes()) {
      long_.grow(2 * wanted);  // pages are used once they are touched
    }
    std::memcpy(long_.data() + before, bytes.data(), bytes.size());
    long_bytes_ = wanted;
  }
  void assign(std::span<const std::byte> bytes) {
    clear();
    append(bytes);
  }
  /// Keeps the memory of a short line only.
  void clear() {
    short_.clear();
    long_ = {};
    long_bytes_ = 0;
  }

 private:
  static constexpr std::size_t kMaxShortBytes = std::size_t{256} << 10;

  std::vector<std::byte> short_;
  io::Buffer long_;  // replaces `short_`, unless it is empty
  std::size_t long_bytes_ = 0;
};

}  // namespace hetsort::order
