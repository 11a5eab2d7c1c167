// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Guesses from a few records of each input whether it is sorted already.
#pragma once

#include "sort/input/input.h"
#include "sort/record_layout.h"

namespace hetsort::sort {

enum class SeemingOrder : std::uint8_t { kNone, kSorted, kReversed };

/// Whether evenly spread records of each input, about a thousand of all together, ascend, or all descend. Ends at the
/// first that does not, which for random records is one of the first few. Lines count as reversed never.
/// Requires: !input.is_stream(). Throws: io::Error.
SeemingOrder seeming_order(const Input& input, const RecordLayout& layout);

}  // namespace hetsort::sort
