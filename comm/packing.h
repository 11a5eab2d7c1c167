// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers and bytes put one behind the other for a message, and taken out again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

namespace hetsort::comm {

class Packer {
 public:
  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }
  void number(std::uint64_t value) { raw(&value, sizeof value); }
  void raw(const void* data, std::size_t size) {
    const auto* const first = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), first, first + size);
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// Throws: std::runtime_error where a message is too short.
class Unpacker {
 public:
  explicit Unpacker(const std::vector<std::byte>& bytes) : bytes_(bytes) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    raw(&value, sizeof value);
    return value;
  }
  void raw(void* data, std::size_t size) {
    if (left() < size) throw std::runtime_error("a message between ranks is too short");
    if (size > 0) std::memcpy(data, bytes_.data() + at_, size);
    at_ += size;
  }
  std::size_t left() const { return bytes_.size() - at_; }
  /// Throws: std::runtime_error when something is left.
  void end() const {
    if (left() != 0) throw std::runtime_error("a message between ranks is too long");
  }

 private:
  const std::vector<std::byte>& bytes_;
  std::size_t at_ = 0;
};

}  // namespace hetsort::comm
