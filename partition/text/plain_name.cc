// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/text/plain_name.h"

#include <algorithm>
#include <array>

namespace hetsort::partition {

bool is_plain_name(std::string_view name) {
  // U+061C, U+200E and U+200F, U+2028 to U+202E, U+2066 to U+2069.
  static constexpr std::array<std::string_view, 14> kHidden{
      "\xd8\x9c",     "\xe2\x80\x8e", "\xe2\x80\x8f", "\xe2\x80\xa8", "\xe2\x80\xa9", "\xe2\x80\xaa", "\xe2\x80\xab",
      "\xe2\x80\xac", "\xe2\x80\xad", "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x81\xa7", "\xe2\x81\xa8", "\xe2\x81\xa9"};
  const auto contains = [&](std::string_view text) { return name.find(text) != std::string_view::npos; };
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto byte = static_cast<unsigned char>(name[i]);
    if (byte < ' ' || byte == 0x7f) return false;
    const bool is_c1 = byte == 0xc2 && i + 1 < name.size() && static_cast<unsigned char>(name[i + 1]) < 0xa0;
    if (is_c1) return false;
  }
  return std::ranges::none_of(kHidden, contains);
}

}  // namespace hetsort::partition
