// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Keys of CSV files that are columns: the header of the first INPUT says which fields they are.
#pragma once

#include "order/lines/csv_rows.h"
#include "order/lines/line_order.h"
#include "sort/input/input.h"
#include "sort/model/record_order.h"
#include "sort/model/sort_options.h"

namespace hetsort::sort {

inline bool is_csv(const RecordLayout& layout) { return layout.lines && layout.lines->is_csv(); }

/// The layout whose keys have the fields of their columns, if records are rows of CSV; else the same. Requires: the
/// header of the input is known, as far as it has one. Throws: RequestError for a key that is no column.
RecordLayout with_columns(const RecordLayout& layout, const TextHeaderRule& rule, const Input& input);

/// From now on the rows of the input are checked, if records are rows of CSV.
void expect_rows(Input& input, const RecordLayout& layout);

}  // namespace hetsort::sort
