// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The characters of a line that a key consists of.
#pragma once

#include <optional>
#include <string_view>

#include "order/lines/line_options.h"

namespace hetsort::order {

/// The part of `line` from the first to the last position of `key`; empty if the last one comes before the first one,
/// or if the line ends before it. Ignores key.style.
std::string_view key_text(std::string_view line, const LineKey& key, std::optional<char> separator);

}  // namespace hetsort::order
