// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Text of limited width: tables on terminals and labels in charts.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hetsort::cli {

/// Width of a terminal that tables fit.
inline constexpr std::size_t kColumns = 80;

/// The first characters (UTF-8) of `text`, at most `max_characters` with `mark`, which ends a text that was cut.
/// Requires: max_characters > 0.
std::string shortened(std::string_view text, std::size_t max_characters, std::string_view mark = "~");

/// "caseb#2" for the second node of the name; the name alone for number 0. Cut before the number if it is too long.
std::string node_label(std::string_view name, std::size_t number, std::size_t max_characters);

}  // namespace hetsort::cli
