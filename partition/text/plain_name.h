// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Names of nodes and jobs, which stand in tables, hostfiles and pictures.
#pragma once

#include <string_view>

namespace hetsort::partition {

/// Whether the UTF-8 `name` has no control character (of ASCII or U+0080 to U+009F), none that changes the direction of
/// text, and no separator of lines.
bool is_plain_name(std::string_view name);

}  // namespace hetsort::partition
