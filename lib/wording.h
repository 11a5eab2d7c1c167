// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Messages of the program as messages of the library, whose callers have no command line.
#pragma once

#include <string>

namespace hetsort::lib {

/// `message` with the names of options as the library takes them: "--record-size" becomes "option record-size", and
/// "-S" "option memory". `path` is left as it is.
std::string without_dashes(const std::string& message, const std::string& path = "");

}  // namespace hetsort::lib
