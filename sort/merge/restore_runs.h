// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What a checkpoint has, before form_runs makes the rest.
//
// In: runs of all ranks' journals, and pieces of the output. Out: on each rank runs that are as they were written, and
// what is missing of its input. Idea: every rank offers the runs that it can read, and all compute which rank takes
// which (sort/checkpoint/divide_runs.h). Each proves what it will merge: all blocks of its runs or, if a single rank
// continues its output, those behind the pieces, which it reads instead. Runs that are not proven are formed again, and
// pieces merged again. A flipped bit in blocks that are not read can mislead the cuts only; then the proof at the end
// fails, and the next process reads all blocks. Cost: one read of the pieces and of the rest of the runs; two
// reductions of O(runs) numbers.
#pragma once

#include <memory>

#include "sort/model/input_segments.h"
#include "sort/model/rank_context.h"
#include "sort/output/output.h"
#include "sort/runs/form_runs.h"

namespace hetsort::sort {

/// Adds the runs that earlier processes left in the checkpoint to `runs`, and returns what is missing of the rank's
/// input. Notes what is used, and what is not. Collective. Requires: context.checkpoint, and that it knows where the
/// output is written. Throws: io::Error; PeerFailed.
std::unique_ptr<InputSegments> restore_runs(const RankContext& context, InputSegments& segments, Output& output,
                                            FormedRuns& runs);

}  // namespace hetsort::sort
