// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The strategy that is used if none is named, for plans and for the ranks of a job.
#pragma once

#include <string>
#include <string_view>

#include "partition/strategies/auto_strategy.h"

namespace hetsort::job {

/// Stands for the strategy that is exact for what is known.
inline constexpr std::string_view kAuto = "auto";

/// Stands for shares that the caller gives.
inline constexpr std::string_view kGiven = "given";

/// What is known of the nodes.
struct KnownOfNodes {
  bool measures = false;    ///< the ranks can measure their rates while they work
  bool speeds = false;      ///< relative ones
  bool cluster = false;     ///< costs, from a cluster file
  bool whole_runs = false;  ///< the costs describe whole runs
  bool root_sends = false;  ///< a root sends the input
};

/// The name of the usual strategy.
std::string usual_strategy(const KnownOfNodes& known);

/// What auto stands for. If a root sends, its order of sending must be known (partition::arrange_scatter()).
partition::AutoChoice choose_automatically(const partition::Problem& problem);

}  // namespace hetsort::job
