// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Strategies that are programs of the user: `exec:COMMAND`. docs/formats/strategy.md describes the JSON.
#pragma once

#include <string>
#include <string_view>

#include "partition/plan.h"
#include "partition/problem.h"

namespace hetsort::job {

/// Begins the name of a strategy that is a program.
inline constexpr std::string_view kOutside = "exec:";

inline bool is_outside(std::string_view strategy) { return strategy.starts_with(kOutside); }

/// Plans with the command in the name of the strategy. Without records it does not run. Throws: RequestError that names
/// the strategy if the program fails or its answer does not fit; partition::PlanError if the problem is not valid.
partition::Plan plan_outside(const partition::Problem& problem, const std::string& strategy);

}  // namespace hetsort::job
