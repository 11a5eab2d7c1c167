// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Classes of characters in the C locale, whatever the locale of the process is.
#pragma once

namespace hetsort::order {

/// A newline is a blank too: lines that end with NUL may contain it.
constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_letter(char c) { return is_lower(c) || (c >= 'A' && c <= 'Z'); }
constexpr bool is_printable(char c) { return c >= ' ' && c <= '~'; }
constexpr char upper(char c) { return is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c; }

}  // namespace hetsort::order
