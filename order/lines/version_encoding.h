// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The encoding of keys that are versions or names of files: -V.
//
// A version is a sequence of other characters and numbers that alternate, beginning with other characters; a missing
// number is 0. '~' comes before the end of a part, letters come after it, and other characters after letters. In the
// encoding each character is the byte of its rank in that order, and kPartEnd follows the characters of a part. A
// number is the count of its digits without leading zeros, then its digits, two a byte.
//
// A name is a class, its version without the suffix, and its whole version. The suffix is the longest one that matches
// (\.[A-Za-z~][A-Za-z0-9~]*)*.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "order/lines/number_encoding.h"

namespace hetsort::order {

inline constexpr std::uint8_t kPartEnd = 2;

/// The rank of each character that is no digit.
inline constexpr auto kVersionRanks = [] {
  std::array<std::uint8_t, 256> ranks{};
  std::uint8_t next = kPartEnd + 1;
  ranks['~'] = kPartEnd - 1;
  for (const bool letters : {true, false})
    for (unsigned c = 0; c < ranks.size(); ++c) {
      const char character = static_cast<char>(c);
      if (character != '~' && !is_digit(character) && is_letter(character) == letters) ranks[c] = next++;
    }
  return ranks;
}();

template <class Sink>
void put_version_number(Sink& sink, std::string_view digits) {
  constexpr std::size_t kMaxShortCount = 253;
  sink.put(static_cast<unsigned>(std::min(digits.size(), kMaxShortCount + 1)));
  if (digits.size() > kMaxShortCount) put_uint64(sink, digits.size());
  const auto digit_at = [&](std::size_t at) {
    return at < digits.size() ? static_cast<unsigned>(digits[at] - '0') : 0;
  };
  for (std::size_t at = 0; at < digits.size() && !sink.full(); at += 2) sink.put(10 * digit_at(at) + digit_at(at + 1));
}

template <class Sink>
void put_version(Sink& sink, std::string_view text) {
  do {
    for (; !text.empty() && !is_digit(text.front()); text.remove_prefix(1)) {
      if (sink.full()) return;
      sink.put(kVersionRanks[static_cast<std::uint8_t>(text.front())]);
    }
    sink.put(kPartEnd);
    text = without_leading(text, [](char c) { return c == '0'; });
    const std::string_view digits = leading_digits(text);
    put_version_number(sink, digits);
    text.remove_prefix(digits.size());
  } while (!text.empty() && !sink.full());
  sink.put(kPartEnd);
}

/// `name` without its suffix.
inline std::string_view without_suffix(std::string_view name) {
  std::size_t suffix = name.size();
  for (std::size_t at = name.size(); at > 0; --at) {
    const char c = name[at - 1];
    if (c == '.') {
      if (at == name.size() || !(is_letter(name[at]) || name[at] == '~')) break;
      suffix = at - 1;
    } else if (!is_letter(c) && !is_digit(c) && c != '~') {
      break;
    }
  }
  return name.substr(0, suffix);
}

template <class Sink>
void encode_version(Sink& sink, std::string_view name) {
  enum Class : unsigned { kEmpty, kDot, kDotDot, kDotName, kName };
  if (name.empty()) return sink.put(kEmpty);
  if (name == ".") return sink.put(kDot);
  if (name == "..") return sink.put(kDotDot);
  sink.put(name.starts_with('.') ? kDotName : kName);
  put_version(sink, without_suffix(name));
  put_version(sink, name);
}

}  // namespace hetsort::order
