// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Text that must not reach toml++ 3.3. Internal to the library.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace hetsort::partition {

struct TextPlace {
  std::size_t line = 1;
  std::size_t column = 1;
};

/// Where and why toml++ must not read this text.
struct TomlHazard {
  TextPlace place;
  std::string_view what;
};

/// The first place of TOML text that would crash toml++ 3.3, found without parsing:
/// - nesting deeper than `limit`, in brackets or in the parts of one dotted key: toml++ recurses over what it has read
///   and overflows the stack;
/// - a character beyond ASCII outside comments: its tables of such characters have gaps that it takes for unreachable.
/// Exact for valid TOML. A false alarm is possible only in text that is invalid at that place. Complexity: O(text).
std::optional<TomlHazard> find_hazard(std::string_view text, std::size_t limit);

}  // namespace hetsort::partition
