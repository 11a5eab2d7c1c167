// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The output of each rank that makes the exchange as short as possible, for a given input.
//
// What a host sends falls with its output, and everything else rises. So for a time T the output of a rank, and that of
// a host, lies in an interval, and the search of level_search.h is exact. A link that all hosts share adds one bound on
// the sum of the products of input and output; the outputs that meet it best fill the hosts with the most input first.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "run_model.h"

namespace hetsort::partition {

/// Checks that the ranks can hold the records. Throws: PlanError that says how many they lack room for.
void check_room(const RunModel& model, std::int64_t records);

/// The output of each rank that ends the exchange first: exactly, or within a factor of 1 + `tolerance` of the time.
/// Requires: a valid model; one number >= 0 for each rank. Throws: PlanError if the ranks cannot hold the records, or a
/// time does not fit a double. Complexity: O(ranks) a step, some tens of steps; O(ranks log ranks) for a shared link.
std::vector<std::int64_t> best_output(const RunModel& model, std::span<const std::int64_t> input, double tolerance = 0);

}  // namespace hetsort::partition
