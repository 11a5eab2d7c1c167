// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of phase select_splitters that divides each part of the output into ranges, one a thread.
//
// In: on each rank the exact cuts of its runs at the borders of all parts. Out: the cuts at the borders of all ranges.
// Idea: only parts must have exact sizes. The ranges of a part need only be about equal, so that its threads end
// together: one summary of the part's records suffices, and any record of it may be a border. Where the border is in
// each run is then counted exactly.
// Cost: one round of 16 marks a range (selection_size.h); a few pages read a spilled run and range.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "sort/select/select_splitters.h"
#include "sort/select/sorted_runs.h"

namespace hetsort::sort {

/// Returns the cuts at the borders of all ranges, both ends included. `borders`: this rank's cuts at the borders of all
/// parts, both ends included. `ranges`: the number of ranges of each part, the same on all ranks. Collective. Throws:
/// io::Error; PeerFailed; std::runtime_error if the summaries of the ranks contradict each other.
std::vector<Cut> divide_parts(const RankedRuns& mine, std::span<const Cut> borders,
                              std::span<const std::uint64_t> ranges, comm::Communicator& communicator);

}  // namespace hetsort::sort
