// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The options that make a job work on lines of text: those of sort(1) that only lines can have.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "job/options/option.h"
#include "job/request/request.h"
#include "order/lines/word_list.h"

namespace hetsort::job {

/// Each of them asks for lines. A key of lines is called line-key, because `key` is one of records.
void add_line_options(Options& options, LineRequest& request);

/// A key as in sort(1): FIELD[.CHARACTER][OPTIONS][,FIELD[.CHARACTER][OPTIONS]]. Throws: RequestError.
order::LineKey parse_line_key(std::string_view text, const std::string& what);

/// What options of lines and of records both decide.
struct LineOrdering {
  bool reverse = false;
  bool keeps_equal = false;                        ///< lines with equal keys keep the order of the input
  std::shared_ptr<const order::WordList> words{};  ///< what LineRequest::order_list names
};
/// Throws: RequestError for orderings that are incompatible with each other.
order::LineOptions line_options_of(const LineRequest& request, const LineOrdering& ordering);

}  // namespace hetsort::job
