// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Phase exchange, together with merge_runs: portions of runs go where they belong and are merged while they arrive.
//
// In: each rank's sorted runs and the exchange's plan (plan_exchange.h). Out: each rank's share of the output, in order
// and verified.
// Idea: the portions of a run that one thread merges are one stream of blocks, part after part. Nothing is merged at
// the source, and a rank merges its own portions where they are. One thread sends blocks for which their receiver has
// room; the merging threads take blocks as they arrive. Every stream has memory of its own at both ends, so the stream
// that a merge waits for can always move: no order of the data can make ranks wait for each other in a circle. Cost:
// (size - 1) / size of the data over the network once; ceil(log2 runs) comparisons a record; memory for a few blocks of
// each stream at both ends; one read of what spilled, one write. Cerin, Dubacq and Roch, Methods for partitioning data
// to improve parallel execution time for sorting on heterogeneous clusters, 2006, section 5: the ways in which threads
// share computing and communicating.
#pragma once

#include "sort/exchange/plan_exchange.h"
#include "sort/model/rank_context.h"
#include "sort/model/rank_result.h"
#include "sort/model/record_order.h"
#include "sort/output/output.h"
#include "sort/runs/form_runs.h"

namespace hetsort::sort {

/// Exchanges and merges. Returns what was written, and stores in `result` what this rank did in place of others.
/// Collective. Throws: io::Error; PeerFailed. After a throw no message touches this rank's memory any more.
WrittenOutput exchange_and_merge(const FormedRuns& runs, const ExchangePlan& plan, const RankContext& context,
                                 const ReadyOutput& output, RankResult& result);

}  // namespace hetsort::sort
