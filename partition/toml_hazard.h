// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace hetsort::partition {

struct TextPlace {
  std::size_t line = 1;
  std::size_t column = 1;
};

/// Where and why toml++ must not be given this text.
struct TomlHazard {
  TextPlace place;
  std::string_view what;
};

/// The first place at which TOML text would harm toml++ 3.3, seen without parsing it: nesting deeper than `limit`, in
/// brackets or in the parts of one dotted key (toml++ recurses over what it has read and overflows the stack), or a
/// character beyond ASCII that is in no comment (its tables of such characters have holes that it
/// takes for unreachable). Exact for valid TOML; text on which it errs is invalid at that place. Complexity: O(text).
std::optional<TomlHazard> find_hazard(std::string_view text, std::size_t limit);

}  // namespace hetsort::partition
