// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Phase publish: prove the output, then give it its name.
//
// In: digests of what was read and what was written, on each rank. Out: the output in place, or an error and everything
// as before.
// Idea: one reduction compares count and fingerprint of all input with those of all output and checks the order across
// ranks. Then each rank syncs what it wrote and, if asked, reads it back (verify_output.h). When all have, the outputs
// get their names.
// Cost: four reductions and a barrier; one sync; if asked, one read of the output.
#pragma once

#include <thread>

#include "sort/model/rank_context.h"
#include "sort/model/rank_result.h"
#include "sort/output/output.h"
#include "sort/runs/form_runs.h"

namespace hetsort::sort {

/// An output that has the records of the input, in order. prove() makes it.
struct ProvenOutput {
  WrittenOutput written;
  std::jthread release;  ///< frees the temporary space of the runs meanwhile
};

/// Compares what was read with what was written, all ranks together, and frees the space of the runs. Stores the
/// outcome in `result`. Collective. Throws: ProofError, on all ranks alike; PeerFailed.
ProvenOutput prove(WrittenOutput written, FormedRuns& runs, const RankContext& context, RankResult& result);

/// Syncs and publishes what this rank wrote. Stores the outcome in `result`. Collective. Throws: ProofError; io::Error;
/// PeerFailed.
void publish(const ProvenOutput& proven, const RankContext& context, RankResult& result);

}  // namespace hetsort::sort
