// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Guesses from a few records of each input of which sorted stretches it consists.
#pragma once

#include <vector>

#include "sort/input/input.h"
#include "sort/input/sorted_inputs.h"
#include "sort/model/record_order.h"

namespace hetsort::sort {

/// Stretches in input order that together cover all inputs.
struct SeemingOrder {
  std::vector<Stretch> stretches;  ///< empty = no order
  bool reversed = false;           ///< all descend, and equal records are equal lines; otherwise all ascend
};

/// Looks at evenly spread records, about a thousand of all inputs together, and searches the borders of stretches
/// between them. There is no order if a stretch has only a few of these records, which shows soon for random records,
/// or if a line is long. Finds up to 64 stretches. Requires: !input.is_stream(). Throws: io::Error.
SeemingOrder seeming_order(const Input& input, const RecordLayout& layout);

}  // namespace hetsort::sort
