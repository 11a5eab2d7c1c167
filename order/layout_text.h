// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A layout as text, to compare it with that of another process.
#pragma once

#include <string>

#include "order/record_layout.h"

namespace hetsort::order {

/// Two layouts have the same text if and only if they sort the same records into the same order, except for a chance of
/// 2^-64 with lists of words.
std::string layout_text(const RecordLayout& layout);

}  // namespace hetsort::order
