// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Tables on terminals.
#pragma once

#include <string>

namespace hetsort::cli {

/// What a line may have.
inline constexpr std::size_t kColumns = 80;

/// `name` in at most `width` columns, with a mark where something was left out. Requires: width > 0.
inline std::string shortened(const std::string& name, std::size_t width) {
  return name.size() <= width ? name : name.substr(0, width - 1) + "~";
}

}  // namespace hetsort::cli
