// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Phase select_splitters among several ranks: the exact cuts of all ranks' runs between parts of given sizes.
//
// In: on each rank its sorted runs; on all ranks the same positions ("ranks") in the output. Out: for each of them a
// position in each own run, so that the records before these positions, on all ranks together, are exactly the first
// `rank` records of the output. Ties are broken by (key, place of the run in the input, position in the run), so that
// shares are met exactly for any data, even if all keys are equal.
// Idea: each rank summarises the records in question around a splitter by a few of them (at first the first keys of
// blocks or buckets, which are in memory), with bounds on the number of records before each. A reduction merges the
// summaries, and rank 0 tells all ranks the two marks between which the search continues. The bounds narrow the search
// by a factor that does not depend on the data. If all runs are in memory, a rank finds the exact positions of the two
// marks at no cost. Then a few marks of each rank suffice: rank 0 chooses the two marks by estimates, whose errors
// mostly cancel each other out, and the next round's counts show whether the splitter lies between them. No rank sees
// more than a summary of the others' records. Of the keys of lines it compares the first bytes; order_long_lines.h does
// the rest.
// Cost: 64 marks a splitter and round, in messages of up to 1.8 MB (selection_size.h); 3 to 5 rounds up to 10^12
// records; some tens of pages read a spilled run and splitter. Rank 0 handles O(splitters log ranks) marks, a leaf of
// the tree O(splitters).
// Varman, Scheufler, Iyer, Ricard, Merging multiple lists on hierarchical-memory multiprocessors, JPDC 1991; Greenwald
// and Khanna, PODS 2004.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "sort/select/quantile_summary.h"
#include "sort/select/select_splitters.h"
#include "sort/select/sorted_runs.h"

namespace hetsort::sort {

/// Merges the summaries of all ranks to about `most_marks` marks each. The result is on rank 0, nothing elsewhere.
/// Collective. Throws: PeerFailed; std::runtime_error if the summaries of the ranks contradict each other.
std::vector<OpenRecords> reduce_summaries(std::vector<OpenRecords> mine, std::size_t most_marks, std::size_t key_bytes,
                                          comm::Communicator& communicator);

/// The phase in which this rank thins its summaries. Ranks whose records are alike would otherwise all choose the same
/// ones, and their errors would add up.
double phase_of(const comm::Communicator& communicator);

/// Returns one cut for each of `ranks`. Collective: the same `ranks`, ascending, on all ranks; none above the records
/// of all.
/// Throws: io::Error; PeerFailed; std::runtime_error if the summaries of the ranks contradict each other.
std::vector<Cut> select_across_ranks(const RankedRuns& mine, std::span<const std::uint64_t> ranks,
                                     comm::Communicator& communicator);

}  // namespace hetsort::sort
