// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "order/lines/csv_fields.h"

#include <algorithm>

#include "io/format/header.h"
#include "order/lines/csv_rows.h"

namespace hetsort::order {

namespace {

constexpr char kHidden = static_cast<char>(kHiddenNewline);

/// The quoted field whose first quote is at `at`. Sets `at` behind its last quote.
CsvField quoted_field(std::string_view row, std::size_t& at) {
  CsvField field;
  const std::size_t first = at + 1;
  std::size_t end = std::min(row.find('"', first), row.size());
  while (end + 1 < row.size() && row[end + 1] == '"') {
    field.has_escapes = true;
    end = std::min(row.find('"', end + 2), row.size());
  }
  field.text = row.substr(first, end - first);
  at = std::min(end + 1, row.size());
  return field;
}

}  // namespace

std::optional<CsvField> csv_field(std::string_view row, std::size_t number, char separator) {
  if (row.ends_with('\r')) row.remove_suffix(1);
  for (std::size_t at = 0;; ++at) {
    CsvField field;
    if (at < row.size() && row[at] == '"') {
      field = quoted_field(row, at);
      if (--number == 0) {
        field.has_escapes |= field.text.find(kHidden) != field.text.npos;
        return field;
      }
    } else {
      const std::size_t end = std::min(row.find(separator, at), row.size());
      if (--number == 0) return CsvField{row.substr(at, end - at)};
      at = end;
    }
    if (at >= row.size()) return std::nullopt;
  }
}

std::string_view value_of(const CsvField& field, std::string& room) {
  if (!field.has_escapes) return field.text;
  room.clear();
  for (std::string_view rest = field.text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('"'), rest.size() - 1) + 1;
    room.append(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));  // the second one of two quotes
  }
  std::ranges::replace(room, kHidden, '\n');
  return room;
}

std::vector<std::string> column_names(std::string_view row, char separator) {
  row.remove_prefix(io::byte_order_mark_bytes(row));
  std::vector<std::string> names;
  std::string room;
  while (const auto field = csv_field(row, names.size() + 1, separator)) names.emplace_back(value_of(*field, room));
  return names;
}

}  // namespace hetsort::order
