// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Times that no plan can beat.
#pragma once

#include "problem.h"

namespace hetsort::partition {

/// A time no plan for this problem can beat. For shares it is the real-valued optimum, for a scatter
/// scatter_lower_bound. Complexity: O(p) a step of a root search.
double lower_bound(const Problem& problem);

/// A time no shares can beat in this sending order. For linear costs the rational optimum; else the better of two
/// relaxations: costs replaced by lines below them, and sending that takes no time. Requires: an arranged scatter.
double scatter_lower_bound(const Problem& problem);

}  // namespace hetsort::partition
