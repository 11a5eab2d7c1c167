// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The strategy "auto" if speeds or costs of the nodes are known: it chooses the strategy that is exact for them.
#pragma once

#include <optional>
#include <string>

#include "partition/problem.h"
#include "partition/strategy.h"

namespace hetsort::partition {

struct AutoChoice {
  StrategyChoice strategy;
  std::string reason;  ///< explanation for the user: what is known, and which strategy follows from it
};

/// Chooses a strategy for records that all nodes process at the same time.
AutoChoice choose_for_shares(const Problem& problem);

/// Chooses a strategy for records that a root sends, in its sending order (arrange_scatter). None when no strategy for
/// a scatter accepts these costs and that many records.
std::optional<AutoChoice> choose_for_scatter(const Problem& arranged);

}  // namespace hetsort::partition
