// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

namespace hetsort::cli {

/// Arguments after the name of a subcommand.
using Arguments = std::span<const std::string>;

}  // namespace hetsort::cli
