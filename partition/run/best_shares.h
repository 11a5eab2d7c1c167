// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Input and output of each rank for a short run, if the ranks divide the input.
//
// For each input there is a best output (best_output.h), so that only the input is searched for. The first one is that
// of the shortest form_runs. But a host that reads much also sends much: so inputs are tried with a bound on the time
// of sending, too, for several ratios of the two bounds. For few ranks, steps in random directions then improve the
// best input found, because what one of few ranks reads also decides how much it receives. The result is a local
// optimum: the times are not convex, since a host keeps what it both reads and ends with.
#pragma once

#include <cstdint>
#include <vector>

#include "run_model.h"

namespace hetsort::partition {

struct PhaseShares {
  std::vector<std::int64_t> input;
  std::vector<std::int64_t> output;
};

/// The shares of a short run. Deterministic. Requires: a valid model. Throws: PlanError if the ranks cannot hold the
/// records, by how much, or a time does not fit a double. Complexity: O(ranks) a step, some hundreds of steps.
PhaseShares best_shares(const RunModel& model, std::int64_t records);

}  // namespace hetsort::partition
