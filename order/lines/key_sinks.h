// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Where an encoder of keys writes: a whole normalized key, a window of it, or its first bytes only.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace hetsort::order {

/// Text keys end with this byte. Bytes up to kEscape are escaped, so that none of them is taken for the end.
inline constexpr std::uint8_t kTextEnd = 0;
inline constexpr std::uint8_t kEscape = 1;

/// Up to 16 bytes of a key, the first one in the most significant place.
__extension__ typedef unsigned __int128 KeyBits;  // NOLINT(modernize-use-using)
inline constexpr unsigned kBitsBytes = sizeof(KeyBits);

constexpr bool needs_escape(char c) { return static_cast<std::uint8_t>(c) <= kEscape; }

/// Converts in both directions between bytes in memory and a number whose first byte is the most significant one.
constexpr std::uint64_t big_endian(std::uint64_t number) {
  return std::endian::native == std::endian::little ? __builtin_bswap64(number) : number;
}

inline std::uint64_t load_big_endian(const char* from) {
  std::uint64_t number = 0;
  std::memcpy(&number, from, sizeof number);
  return big_endian(number);
}

/// The first bytes of `text`; zeros follow a shorter one.
inline KeyBits first_bits(std::string_view text) {
  if (text.size() >= 16) return KeyBits{load_big_endian(text.data())} << 64 | load_big_endian(text.data() + 8);
  const auto size = static_cast<unsigned>(text.size());
  if (size >= 8)  // two words that overlap
    return KeyBits{load_big_endian(text.data())} << 64 | KeyBits{load_big_endian(text.data() + size - 8)}
                                                             << 8 * (16 - size);
  std::uint64_t number = 0;
  for (unsigned i = 0; i < size; ++i) number |= std::uint64_t{static_cast<std::uint8_t>(text[i])} << (56 - 8 * i);
  return KeyBits{number} << 64;
}

/// Whether one of the first `count` bytes needs to be escaped.
inline bool has_escape(KeyBits bits, std::size_t count) {
  if (count < kBitsBytes) bits |= ~KeyBits{0} >> 8 * count;
  const auto below_two = [](std::uint64_t word) {
    return (word - 0x0202020202020202) & ~word & 0x8080808080808080;  // no byte's top bit is set unless one is below 2
  };
  return (below_two(static_cast<std::uint64_t>(bits >> 64)) | below_two(static_cast<std::uint64_t>(bits))) != 0;
}

/// Appends encodings to a whole key.
class WholeKeySink {
 public:
  explicit WholeKeySink(std::vector<std::byte>& key) : key_(key) {}

  /// Whether further bytes would be ignored. A whole key has no such limit.
  static constexpr bool full() { return false; }
  std::size_t size() const { return key_.size(); }
  void put(unsigned byte) { key_.push_back(static_cast<std::byte>(byte)); }
  /// Appends the first `count` bytes, at most 16. Requires: the others are 0.
  void put_bits(KeyBits bits, unsigned count) {
    for (; count > 0; --count, bits <<= 8) put(static_cast<std::uint8_t>(bits >> 120));
  }
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
  void complement_from(std::size_t begin) {
    for (std::size_t at = begin; at < key_.size(); ++at) key_[at] = ~key_[at];
  }

 private:
  std::vector<std::byte>& key_;
};

/// Keeps `count` bytes of a key from byte `first` on, fewer only where the key ends before.
class WindowSink {
 public:
  WindowSink(std::size_t first, std::size_t count) : first_(first), end_(first + count) {}

  bool full() const { return size_ >= end_; }
  std::size_t size() const { return size_; }
  void put(unsigned byte) {
    if (size_ >= first_ && size_ < end_) kept_.push_back(static_cast<std::byte>(byte));
    ++size_;
  }
  void put_bits(KeyBits bits, unsigned count) {
    for (; count > 0; --count, bits <<= 8) put(static_cast<std::uint8_t>(bits >> 120));
  }
  void append(std::string_view text) {
    const std::size_t skipped = std::min(text.size(), first_ - std::min(first_, size_));
    const std::size_t left = end_ - std::min(end_, size_ + skipped);
    const auto* const bytes = reinterpret_cast<const std::byte*>(text.data()) + skipped;
    kept_.insert(kept_.end(), bytes, bytes + std::min(text.size() - skipped, left));
    size_ += text.size();
  }
  void append_escaped(std::string_view text) {
    while (!text.empty() && !full()) {
      const auto at = static_cast<std::size_t>(std::find_if(text.begin(), text.end(), needs_escape) - text.begin());
      append(text.substr(0, at));
      if (at == text.size()) return;
      put(kEscape);
      put(static_cast<std::uint8_t>(text[at]) + 1U);
      text.remove_prefix(at + 1);
    }
  }
  void complement_from(std::size_t begin) {
    for (std::size_t at = std::max(begin, first_) - first_; at < kept_.size(); ++at) kept_[at] = ~kept_[at];
  }
  std::span<const std::byte> bytes() const { return kept_; }

 private:
  std::size_t first_;
  std::size_t end_;
  std::size_t size_ = 0;  // of the key so far
  std::vector<std::byte> kept_;
};

/// Keeps the first 16 bytes of a key. They are one number, so that they stay in registers.
class FrontSink {
 public:
  bool full() const { return size_ == kBitsBytes; }
  std::size_t size() const { return size_; }
  void put(unsigned byte) { put_bits(KeyBits{byte} << 120, 1); }
  void put_bits(KeyBits bits, unsigned count) {
    if (full()) return;
    bits_ |= bits >> 8 * size_;
    size_ = std::min(size_ + count, kBitsBytes);
  }
  void append(std::string_view text) { put_bits(first_bits(text), count_of(text)); }
  void append_escaped(std::string_view text) {
    const KeyBits bits = first_bits(text);
    if (!has_escape(bits, text.size())) return put_bits(bits, count_of(text));
    for (const char c : text.substr(0, kBitsBytes)) {
      if (needs_escape(c)) put(kEscape);
      put(static_cast<std::uint8_t>(c) + (needs_escape(c) ? 1U : 0U));
    }
  }
  void complement_from(std::size_t begin) {
    if (begin == size_) return;
    bits_ ^= ~KeyBits{0} >> 8 * begin & ~KeyBits{0} << 8 * (kBitsBytes - size_);
  }
  std::array<std::byte, kBitsBytes> bytes() const {
    const std::array words{big_endian(static_cast<std::uint64_t>(bits_ >> 64)),
                           big_endian(static_cast<std::uint64_t>(bits_))};
    return std::bit_cast<std::array<std::byte, kBitsBytes>>(words);
  }

 private:
  static unsigned count_of(std::string_view text) {
    return static_cast<unsigned>(std::min<std::size_t>(text.size(), kBitsBytes));
  }

  KeyBits bits_ = 0;
  unsigned size_ = 0;
};

}  // namespace hetsort::order
