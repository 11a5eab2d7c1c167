// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What --strategy auto takes where something is known of the nodes: the exact strategy for what it is.
#pragma once

#include <optional>
#include <string>

#include "partition/problem.h"
#include "partition/strategy.h"

namespace hetsort::cli {

struct AutoChoice {
  partition::StrategyChoice strategy;
  std::string reason;  ///< what is known, and what follows
};

/// For records that all nodes work off at once.
AutoChoice choose_for_shares(const partition::Problem& problem);

/// For records that a root sends, in its sending order (partition::arrange_scatter); none when no strategy for a
/// scatter takes these costs and that many records.
std::optional<AutoChoice> choose_for_scatter(const partition::Problem& arranged);

}  // namespace hetsort::cli
