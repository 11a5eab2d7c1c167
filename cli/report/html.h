// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Text and tables as HTML. Every text from a file must pass through escaped().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hetsort::cli {

/// Escapes `text` for HTML content and quoted attributes: & < > " ' become references, and what is not printable except
/// tab and line end becomes U+FFFD.
std::string escaped(std::string_view text);

/// Figures in the style of the page: "1,234,567"; seconds as "12.34"; "1.28 GB" (powers of 1000); "12.3 %".
std::string count_text(std::uint64_t count);
std::string seconds_text(double seconds);
std::string bytes_text(std::uint64_t bytes);
std::string percent_text(double fraction);
/// Millions of bytes per second, or a dash if no time passed.
std::string rate_text(std::uint64_t bytes, double seconds);

constexpr std::string_view kNothing = "\u2013";   ///< the dash of a cell without a value
constexpr std::string_view kEllipsis = "\u2026";  ///< marks where a text was shortened

/// A table with a caption and headers. The first cell of each row is its header. Wide tables scroll horizontally.
class Table {
 public:
  /// Columns whose name starts with '#' hold figures: they are aligned right, and the '#' is not shown.
  Table(std::string_view caption, const std::vector<std::string_view>& columns);
  /// Adds a row and escapes its cells. Requires: as many cells as columns.
  void add(const std::vector<std::string>& cells);
  std::string html() const;

 private:
  std::string caption_;
  std::string head_;
  std::string body_;
  std::vector<bool> figures_;
};

}  // namespace hetsort::cli
