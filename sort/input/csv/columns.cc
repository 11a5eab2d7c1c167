// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/input/csv/columns.h"

#include <fmt/format.h>

#include <memory>
#include <string_view>
#include <vector>

#include "io/field.h"
#include "order/lines/csv_fields.h"
#include "order/lines/line_order.h"
#include "sort/failure/request_error.h"

namespace hetsort::sort {

namespace {

/// The names in the first row of a header.
std::vector<std::string> names_in(std::span<const std::byte> header, const order::LineOrder& order) {
  std::vector<std::byte> rows(header.begin(), header.end());
  order::hide_newlines(rows, false);
  const std::string_view text(reinterpret_cast<const char*>(rows.data()), rows.size());
  return order::column_names(text.substr(0, text.find(order.terminator())), *order.separator());
}

}  // namespace

bool is_csv(const RecordLayout& layout) { return layout.lines && layout.lines->is_csv(); }

order::CsvFormat csv_format(const RecordLayout& layout) {
  return {*layout.lines->separator(), layout.lines->least_fields()};
}

RecordLayout with_columns(const RecordLayout& layout, const io::HeaderRule& rule, std::span<const std::byte> header,
                          const std::string& name) {
  if (!is_csv(layout)) return layout;
  const order::LineOrder& order = *layout.lines;
  if (rule.lines == 0 && order.needs_columns())
    throw RequestError(fmt::format("a key that is a name needs a header, and {} 0 says that there is none",
                                   io::field("header_lines")));
  if (rule.lines == 0 || header.empty()) return layout;
  RecordLayout found = layout;
  try {
    found.lines = std::make_shared<const order::LineOrder>(order.with_columns(names_in(header, order)));
  } catch (const order::ColumnError& error) {
    throw RequestError(fmt::format("{}: {}", name, error.what()));
  }
  return found;
}

}  // namespace hetsort::sort
