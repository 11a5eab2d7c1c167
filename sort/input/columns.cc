// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/input/columns.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/field.h"
#include "order/lines/csv_fields.h"
#include "sort/failure/request_error.h"

namespace hetsort::sort {

namespace {

/// The names in the first row of a header.
std::vector<std::string> names_in(std::vector<std::byte> header, const order::LineOrder& order) {
  order::hide_newlines(header, false);
  const std::string_view rows(reinterpret_cast<const char*>(header.data()), header.size());
  return order::column_names(rows.substr(0, rows.find(order.terminator())), *order.separator());
}

}  // namespace

RecordLayout with_columns(const RecordLayout& layout, const TextHeaderRule& rule, const Input& input) {
  if (!is_csv(layout)) return layout;
  const order::LineOrder& order = *layout.lines;
  if (rule.lines == 0) {
    if (order.needs_columns())
      throw RequestError(fmt::format("a key that is a name needs a header, and {} 0 says that there is none",
                                     io::field("header_lines")));
    return layout;
  }
  if (input.header().empty()) {
    if (order.needs_columns() && input.is_stream() && input.files().size() > 1)
      throw io::Error("read", input.files().front().file.name(), "it is empty: a key that is a name needs its header");
    return layout;
  }
  RecordLayout found = layout;
  try {
    found.lines = std::make_shared<const order::LineOrder>(order.with_columns(names_in(input.header(), order)));
  } catch (const order::ColumnError& error) {
    const std::string name = input.files().empty() ? "rank 0's input" : input.files().front().file.name();
    throw RequestError(fmt::format("{}: {}", name, error.what()));
  }
  return found;
}

void expect_rows(Input& input, const RecordLayout& layout) {
  if (is_csv(layout)) input.expect_rows({*layout.lines->separator(), layout.lines->least_fields()});
}

}  // namespace hetsort::sort
