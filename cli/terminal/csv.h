// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Tables for other programs: comma-separated values (RFC 4180) with a line of names on top.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace hetsort::cli {

/// A value as text; quoted if it needs it.
class CsvValue {
 public:
  // NOLINTBEGIN(google-explicit-constructor): lists of values are written as such.
  CsvValue(std::string_view text)
      : text_(text.find_first_of(",\"\r\n") == std::string_view::npos ? std::string(text) : quoted(text)) {}
  CsvValue(const std::string& text) : CsvValue(std::string_view(text)) {}
  CsvValue(const char* text) : CsvValue(std::string_view(text)) {}
  template <typename Number>
  requires std::integral<Number> || std::floating_point<Number> CsvValue(Number number)
      : text_(fmt::format("{}", number)) {}
  /// Empty without a value.
  CsvValue(const std::optional<double>& number) : text_(number ? fmt::format("{}", *number) : "") {}

  // NOLINTEND(google-explicit-constructor)

  const std::string& text() const { return text_; }

 private:
  static std::string quoted(std::string_view text) {
    std::string inside = "\"";
    for (const char byte : text) inside.append(byte == '"' ? 2 : 1, byte);
    return inside + '"';
  }

  std::string text_;
};

/// A line with its end.
inline std::string csv_line(std::initializer_list<CsvValue> values) {
  std::string line;
  for (const CsvValue& value : values) line.append(value.text()).append(",");
  line.back() = '\n';
  return line;
}

}  // namespace hetsort::cli
