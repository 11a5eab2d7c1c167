// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of phase select_splitters for lines whose keys are longer than what the selection compares.
//
// In: on each rank, cuts at the same positions ("ranks") in the output, by the first kMarkKeyBytes of the keys. Out:
// these cuts by whole keys.
// Idea: such a cut differs only if lines of several runs have equal first bytes there. All ranks then draw one of these
// lines at random, count the lines below it, and continue with those below or above, as quickselect does.
// Cost: a reduction of one key a splitter; for each cut that differs, about 2 ln(n) lines that ranks send each other,
// where n is the number of lines with the same first bytes. No more than three whole lines are in memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "sort/select/select_splitters.h"
#include "sort/select/sorted_runs.h"

namespace hetsort::sort {

/// Moves each cut to its exact place; cut i is at ranks[i]. Collective: the same `ranks` on all ranks. Throws:
/// io::Error; PeerFailed; std::runtime_error if the ranks contradict each other.
void order_long_lines(const RankedRuns& mine, std::span<const std::uint64_t> ranks, std::vector<Cut>& cuts,
                      comm::Communicator& communicator);

}  // namespace hetsort::sort
