// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Where an encoder of keys writes: a whole normalized key, or its first bytes only.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace hetsort::io {

/// Text keys end with this byte. Bytes up to kEscape are escaped, so that none of them is taken for the end.
inline constexpr std::uint8_t kTextEnd = 0;
inline constexpr std::uint8_t kEscape = 1;

inline bool needs_escape(char c) { return static_cast<std::uint8_t>(c) <= kEscape; }

inline void complement_bytes(std::byte* begin, std::byte* end) {
  std::for_each(begin, end, [](std::byte& byte) { byte = ~byte; });
}

/// Appends to a key.
class WholeKeySink {
 public:
  explicit WholeKeySink(std::vector<std::byte>& key) : key_(key) {}

  /// Whether further bytes do not count.
  static constexpr bool full() { return false; }
  std::size_t size() const { return key_.size(); }
  void put(unsigned byte) { key_.push_back(static_cast<std::byte>(byte)); }
  void append(std::string_view text) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
    key_.insert(key_.end(), bytes, bytes + text.size());
  }
  /// Appends `text` without any byte kTextEnd.
  void append_escaped(std::string_view text) {
    while (!text.empty()) {
      const auto at = static_cast<std::size_t>(std::find_if(text.begin(), text.end(), needs_escape) - text.begin());
      append(text.substr(0, at));
      if (at == text.size()) return;
      put(kEscape);
      put(static_cast<std::uint8_t>(text[at]) + 1U);
      text.remove_prefix(at + 1);
    }
  }
  void complement_from(std::size_t begin) { complement_bytes(key_.data() + begin, key_.data() + key_.size()); }

 private:
  std::vector<std::byte>& key_;
};

/// Keeps the first bytes of a key.
class FrontSink {
 public:
  static constexpr std::size_t kBytes = 16;

  bool full() const { return size_ == kBytes; }
  std::size_t size() const { return size_; }
  void put(unsigned byte) {
    if (size_ < kBytes) bytes_[size_++] = static_cast<std::byte>(byte);
  }
  void append(std::string_view text) {
    const std::size_t count = std::min(text.size(), kBytes - size_);
    std::copy_n(reinterpret_cast<const std::byte*>(text.data()), count, bytes_.data() + size_);
    size_ += count;
  }
  void append_escaped(std::string_view text) {
    for (std::size_t i = 0; i < text.size() && !full(); ++i) {
      if (needs_escape(text[i])) put(kEscape);
      put(static_cast<std::uint8_t>(text[i]) + (needs_escape(text[i]) ? 1U : 0U));
    }
  }
  void complement_from(std::size_t begin) { complement_bytes(bytes_.data() + begin, bytes_.data() + size_); }
  const std::array<std::byte, kBytes>& bytes() const { return bytes_; }

 private:
  std::array<std::byte, kBytes> bytes_{};
  std::size_t size_ = 0;
};

}  // namespace hetsort::io
