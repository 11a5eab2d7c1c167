// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// hetsort sort --debug: what is compared, in words.
#pragma once

#include <string>
#include <vector>

#include "sort/model/record_order.h"

namespace hetsort::cli {

/// The locale whose order the user's environment asks for, as sort(1) takes it; empty if that is the order of bytes.
std::string locale_of_order();

/// What decides the order, the most significant first: a line of text for the locale, if it does not count, and for
/// each key.
std::vector<std::string> explain_order(const sort::RecordLayout& layout);

}  // namespace hetsort::cli
