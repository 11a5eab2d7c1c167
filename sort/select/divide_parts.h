// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of phase select_splitters that divides each part of the output into ranges, one a thread.
//
// In: on each rank the exact cuts of its runs at the borders of all parts. Out: the cuts at the borders of all ranges.
// Idea: only parts must have exact sizes. The ranges of a part need only be about equal, so that its threads end
// together, and only the rank that merges them cares. Each rank sends each other rank a few marks of what it has for
// it. That rank chooses the borders of its own ranges among them, and each rank counts where they are in its runs.
// Cost: two messages between any two ranks, of a few marks and of one mark a range (selection_size.h); a few pages read
// a spilled run and range.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "sort/select/select_splitters.h"
#include "sort/select/sorted_runs.h"

namespace hetsort::sort {

/// How many parts and ranges there are; all ranks know the same.
struct PartsOfRanks {
  std::vector<std::size_t> of_rank;   ///< number of parts of each rank
  std::vector<std::uint64_t> ranges;  ///< number of ranges of each part, at least 1
};

/// Returns the cuts at the borders of all ranges, both ends included. `borders`: this rank's cuts at the borders of all
/// parts, both ends included. Collective. Throws: io::Error; PeerFailed; std::runtime_error if the summaries of the
/// ranks contradict each other.
std::vector<Cut> divide_parts(const RankedRuns& mine, std::span<const Cut> borders, const PartsOfRanks& parts,
                              comm::Communicator& communicator);

}  // namespace hetsort::sort
