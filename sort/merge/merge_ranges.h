// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranges of the output that the threads of a single rank merge, and what earlier processes have merged of it.
#pragma once

#include <cstdint>
#include <vector>

#include "sort/checkpoint/checkpoint.h"
#include "sort/model/rank_context.h"
#include "sort/output/output.h"
#include "sort/runs/form_runs.h"
#include "sort/select/select_splitters.h"

namespace hetsort::sort {

/// A range of the output that one thread merges.
struct MergeRange {
  std::uint64_t first_record = 0;  ///< records of the output before it
  std::uint64_t end_record = 0;
  Cut first{};  ///< place of its begin in each run, and of its end
  Cut end{};
};

/// Selects ranges of spilled runs that threads merge, in the order of the output: as many for each thread, but a single
/// one for an output that is a stream, and none of what a checkpoint has merged already. First merges neighbouring runs
/// until one pass can merge all that are left. Cuts volumes of lines where a line begins. Throws: io::Error.
std::vector<MergeRange> select_ranges(FormedRuns& runs, const RankContext& context, Output& output);
/// Cuts the runs at the borders of these ranges, nearly where they are, and corrects the ranges. Cuts volumes of lines
/// where a line begins. Throws: io::Error.
void cut_ranges(const FormedRuns& runs, const RankContext& context, Output& output, std::vector<MergeRange>& ranges);

/// What earlier processes have merged.
std::vector<MergedPiece> merged_before(const RankContext& context);
/// The ranges of `records` records that no piece has.
std::vector<MergeRange> gaps_between(const std::vector<MergedPiece>& pieces, std::uint64_t records,
                                     std::uint64_t record_bytes);

}  // namespace hetsort::sort
