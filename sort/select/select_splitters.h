// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Phase select_splitters: the exact cuts of all runs that make output ranges of given sizes.
//
// In: sorted runs, and positions ("ranks") in the output. Out: for each rank a position in each run, so that the
// records before these positions are exactly the first `rank` records of the output. Ties are broken by (key, run,
// position in the run), so that ranks are met exactly for any data, even if all keys are equal. Idea: multiway
// selection. Some keys of each run, which are in memory, bracket a cut to the records between two of them. Then each
// round takes a weighted median as pivot, counts the records before it by binary search, and drops at least a quarter
// of the remaining records. Cost: O(keys log keys) for the brackets; some pages read a run. Varman, Scheufler, Iyer,
// Ricard, Merging multiple lists on hierarchical-memory multiprocessors, JPDC 1991.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "io/temp/spill.h"
#include "sort/model/run.h"

namespace hetsort::sort {

/// A cut: one position in each run, in records.
using Cut = std::vector<std::uint64_t>;

/// Returns one cut for each of `ranks`. Requires: `ranks` ascending, each at most the number of records of all `runs`.
/// Throws: io::Error.
std::vector<Cut> select_splitters(std::span<const SpilledRun> runs, const io::SpillSpace& space,
                                  const RecordLayout& layout, std::span<const std::uint64_t> ranks);

}  // namespace hetsort::sort
