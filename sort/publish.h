// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Phase publish: verify the output, then give it its name.
//
// In: digests of what was read and what was written, on each rank. Out: the output in place, or an error and everything
// as before.
// Idea: one reduction compares count and fingerprint of all input with those of all output and checks the order across
// ranks. Then each rank syncs what it wrote and, if asked, reads it back (verify_output.h). When all have, the outputs
// get their names.
// Cost: four reductions and a barrier; one sync; if asked, one read of the output.
#pragma once

#include <string>

#include "comm/communicator.h"
#include "sort/model/rank_context.h"
#include "sort/model/rank_result.h"
#include "sort/model/record_order.h"
#include "sort/output/output.h"
#include "sort/runs/form_runs.h"

namespace hetsort::sort {

/// Checks, syncs and publishes what this rank wrote, and frees the space of its runs meanwhile. Stores the outcome in
/// `result`. Collective. Throws: ProofError; io::Error; PeerFailed.
void publish(FormedRuns& runs, const OrderVerifier& written, Output& output, const RankContext& context,
             RankResult& result);

/// What all ranks wrote together.
struct WrittenByAll {
  MultisetDigest digest;
  ChecksumSum checksum;
};

/// Compares what was read with what was written, all ranks together; only then may the output be published.
/// Collective: all ranks. Throws: ProofError naming `path`, on all ranks alike.
WrittenByAll prove(const MultisetDigest& input, const OrderVerifier& written, const std::string& path,
                   comm::Communicator& ranks);

}  // namespace hetsort::sort
