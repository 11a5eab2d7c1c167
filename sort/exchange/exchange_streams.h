// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Which streams phase exchange has between this rank and the others.
//
// A stream consists of the segments of one run for one thread of another rank, one for each part of that rank's output.
// Streams between two ranks are numbered thread by thread, run by run.
#pragma once

#include <cstddef>
#include <vector>

#include "sort/exchange/incoming_streams.h"
#include "sort/exchange/outgoing_streams.h"
#include "sort/exchange/plan_exchange.h"
#include "sort/exchange/run_segments.h"
#include "sort/model/rank_context.h"
#include "sort/runs/form_runs.h"

namespace hetsort::sort {

/// The streams that leave this rank, and their contents in the same order.
struct OutgoingSegments {
  std::vector<OutgoingStream> streams;
  std::vector<MemorySegments> in_memory;  ///< of streams of runs in memory
  std::vector<RunRanges> spilled;         ///< of the other streams
  std::vector<bool> is_spilled;           ///< which of both, for each stream
};

OutgoingSegments list_outgoing(const FormedRuns& runs, const ExchangePlan& plan, const RankContext& context);

/// How many sizes of streams' parts each rank sends to this one.
std::vector<std::size_t> sizes_from_ranks(const ExchangePlan& plan);

/// The streams that arrive, for each thread of this rank: rank by rank, run by run. `sizes`: from each rank, as
/// SizeTables::swap() returns them.
std::vector<std::vector<IncomingStream>> list_incoming(const ExchangePlan& plan,
                                                       const std::vector<std::vector<StreamSize>>& sizes);

}  // namespace hetsort::sort
