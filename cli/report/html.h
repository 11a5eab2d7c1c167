// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Text and tables as HTML. Whatever comes from a file passes through escaped(), nothing else makes it harmless.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hetsort::cli {

/// `text` for HTML content and quoted attributes: & < > " ' as references, control characters but tab and line end
/// as U+FFFD.
std::string escaped(std::string_view text);

/// The first `most` characters (UTF-8), with an ellipsis for the rest. Not escaped.
std::string shortened(std::string_view text, std::size_t most);

/// Figures as the page writes them: 1,234,567; 12.34 s without the unit; 1.28 GB (powers of 1000); +12.3 %.
std::string count_text(std::uint64_t count);
std::string seconds_text(double seconds);
std::string bytes_text(std::uint64_t bytes);
std::string percent_text(double fraction);
/// Millions of bytes a second, or a dash where there was no time.
std::string rate_text(std::uint64_t bytes, double seconds);

constexpr std::string_view kNothing = "\u2013";  ///< a dash in a cell that has no value

/// A table with a caption and headers; the first cell of each row is the row's header. Wide ones scroll by themselves.
class Table {
 public:
  /// Columns whose name starts with '#' hold figures: aligned right, and the '#' is not shown.
  Table(std::string_view caption, const std::vector<std::string_view>& columns);
  /// Requires: as many cells as columns. Escapes them.
  void add(const std::vector<std::string>& cells);
  std::string html() const;

 private:
  std::string caption_;
  std::string head_;
  std::string body_;
  std::vector<bool> figures_;
};

}  // namespace hetsort::cli
