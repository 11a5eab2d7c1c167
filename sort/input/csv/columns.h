// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Keys of CSV files that are columns: the header says which fields they are.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "order/lines/csv_rows.h"
#include "sort/model/record_order.h"
#include "sort/model/sort_options.h"

namespace hetsort::sort {

/// Whether records are rows of CSV.
bool is_csv(const RecordLayout& layout);

/// What rows must have. Requires: is_csv(); the keys have their fields.
order::CsvFormat csv_format(const RecordLayout& layout);

/// The layout whose keys have the fields of their columns, if records are rows of CSV; else the same. `header`: that of
/// the first input, which has the name `name`; empty if all inputs are. Throws: RequestError for a key that is no
/// column.
RecordLayout with_columns(const RecordLayout& layout, const io::HeaderRule& rule, std::span<const std::byte> header,
                          const std::string& name);

}  // namespace hetsort::sort
