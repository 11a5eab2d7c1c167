// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Internal to the library.
#pragma once

#include <limits>

namespace hetsort::partition {

/// The cost of what no node can take.
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace hetsort::partition
