// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// How values become the bytes of a message and are read back. All ranks have the same byte order and type sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace hetsort::comm {

class Packer {
 public:
  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }

  void raw(const void* data, std::size_t size) {
    const auto* const first = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), first, first + size);
  }
  void raw(const std::vector<std::byte>& bytes) { raw(bytes.data(), bytes.size()); }
  void number(std::uint64_t value) { raw(&value, sizeof value); }
  template <class Value>
  void value(const Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    raw(&value, sizeof value);
  }
  /// Appends the count, then the values.
  template <class Value>
  void values(const std::vector<Value>& values) {
    static_assert(std::is_trivially_copyable_v<Value>);
    number(values.size());
    raw(values.data(), values.size() * sizeof(Value));
  }
  /// Appends the length, then the text.
  void text(std::string_view text) {
    number(text.size());
    raw(text.data(), text.size());
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads the values of a message. Requires: the bytes outlive this object. Throws: std::runtime_error if the message is
/// too short.
class Unpacker {
 public:
  explicit Unpacker(const std::vector<std::byte>& bytes) : bytes_(bytes) {}

  void raw(void* data, std::size_t size) {
    const std::byte* const first = take(size);
    if (size > 0) std::memcpy(data, first, size);
  }
  std::uint64_t number() { return value<std::uint64_t>(); }
  template <class Value>
  Value value() {
    static_assert(std::is_trivially_copyable_v<Value>);
    Value value{};
    raw(&value, sizeof value);
    return value;
  }
  template <class Value>
  std::vector<Value> values() {
    std::vector<Value> values(count(sizeof(Value)));
    raw(values.data(), values.size() * sizeof(Value));
    return values;
  }
  /// Reads a count of items that have at least `item_bytes` bytes each. Throws: std::runtime_error if so many cannot
  /// follow.
  std::size_t count(std::size_t item_bytes) {
    const std::uint64_t count = number();
    if (count > left() / item_bytes) fail_short();
    return count;
  }
  std::string text() { return fixed_text(count(1)); }
  std::vector<std::byte> bytes(std::size_t size) {
    const std::byte* const first = take(size);
    return {first, first + size};
  }
  /// Reads all bytes that are left, as text.
  std::string rest() { return fixed_text(left()); }

  std::size_t left() const { return bytes_.size() - at_; }
  /// Checks that nothing is left. Throws: std::runtime_error if bytes are left.
  void end() const {
    if (left() != 0) throw std::runtime_error("a message between ranks is too long");
  }

 private:
  [[noreturn]] static void fail_short() { throw std::runtime_error("a message between ranks is too short"); }
  const std::byte* take(std::size_t size) {
    if (left() < size) fail_short();
    const std::byte* const first = bytes_.data() + at_;
    at_ += size;
    return first;
  }
  std::string fixed_text(std::size_t size) { return {reinterpret_cast<const char*>(take(size)), size}; }

  const std::vector<std::byte>& bytes_;
  std::size_t at_ = 0;
};

}  // namespace hetsort::comm
