// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The fields of a row of CSV (RFC 4180), and their values: without the quotes around them, and with each doubled quote
// once. A newline within quotes is a newline or kHiddenNewline; it is a newline in the value.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hetsort::order {

/// A field of a row.
struct CsvField {
  std::string_view text{};   ///< what is between the quotes, or the whole field
  bool has_escapes = false;  ///< a quote or a newline may be within, which stands for another text
};

/// Field `number`, from 1, of a row without its newline; nothing if the row has fewer fields. A carriage return at the
/// end belongs to no field. Requires: the row is well formed.
std::optional<CsvField> csv_field(std::string_view row, std::size_t number, char separator);

/// The value of a field: its text itself, or in `room`.
std::string_view value_of(const CsvField& field, std::string& room);

/// The values of all fields of a header row, without a byte order mark.
std::vector<std::string> column_names(std::string_view row, char separator);

}  // namespace hetsort::order
