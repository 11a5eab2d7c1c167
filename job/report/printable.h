// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The characters of a text that a terminal or a page shows as they are.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hetsort::job {

/// The bytes of the character at the start of `text`, if it is one of UTF-8 that a terminal shows. 0 for a control
/// character (of ASCII or U+0080 to U+009F), one that changes the direction of text, a separator of lines, and for
/// bytes that are not UTF-8. Async-signal-safe.
std::size_t printable_bytes(std::string_view text) noexcept;
/// The bytes of that character, printable or not; 1 where the text is not UTF-8. Async-signal-safe.
std::size_t character_bytes(std::string_view text) noexcept;
/// Whether all characters of `text` are printable.
bool is_printable(std::string_view text) noexcept;

/// Returns `text` with `replacement` for each character or byte that is not printable.
std::string with_replacements(std::string_view text, std::string_view replacement);

}  // namespace hetsort::job
