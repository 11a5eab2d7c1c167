// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Which streams phase exchange has between this rank and the others.
//
// A stream consists of the portions of one run for one thread of another rank, one for each part of that rank's share.
// Streams between two ranks are numbered thread by thread, run by run. A stream without records has a number, but is
// not listed: with many ranks most are empty. If ranges are dealt all are listed, because each may get records later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sort/deal/run_copies.h"
#include "sort/exchange/incoming_streams.h"
#include "sort/exchange/outgoing_streams.h"
#include "sort/exchange/plan_exchange.h"
#include "sort/exchange/run_portions.h"
#include "sort/exchange/size_tables.h"
#include "sort/merge/fewer_streams.h"
#include "sort/model/rank_context.h"
#include "sort/runs/form_runs.h"

namespace hetsort::sort {

/// The streams that leave this rank, and their contents.
struct OutgoingPortions {
  std::vector<OutgoingStream> streams;
  std::vector<MemoryPortions> in_memory;  ///< streams of runs in memory, in the order of `streams`
  std::vector<SpilledPortions> spilled;   ///< the other streams, in the same order
  std::vector<bool> is_spilled;           ///< whether each stream is one of `spilled`
  /// The table of sizes for each other rank: one for each part of each stream in the order of their numbers, also of
  /// empty ones. None if ranges are dealt.
  SizeTables::Tables sizes_to;
};

/// If ranges are dealt, the streams have the first range of each thread only.
OutgoingPortions list_outgoing(const FormedRuns& runs, const ExchangePlan& plan, const RankContext& context);

/// The sizes of the portion of each own run, for each range of all ranks.
std::vector<std::vector<StreamSize>> sizes_of_ranges(const FormedRuns& runs, const ExchangePlan& plan,
                                                     const RankContext& context);

/// The tables of sizes for all ranks if ranges are dealt: `of_ranges` for each rank.
SizeTables::Tables tables_of_ranges(const ExchangePlan& plan, const std::vector<std::vector<StreamSize>>& of_ranges);
/// The numbers of sizes in the tables of the ranks. Requires: the plan outlives it.
SizeTables::Count sizes_in_tables(const ExchangePlan& plan);
/// The sizes of what arrives for a range, in the order of a thread's streams, if ranges are dealt. `sizes`: as below.
/// `copied`: the ranks of whose runs this rank has copies, in ascending order; nothing arrives from them.
std::vector<StreamSize> sizes_of_range(const ExchangePlan& plan, const std::vector<std::vector<StreamSize>>& sizes,
                                       std::uint64_t range, std::span<const std::size_t> copied);
/// The runs of another rank and their cuts at the borders of all ranges, if ranges are dealt. `sizes`: as below.
std::vector<RunCopies::Original> originals_of(const ExchangePlan& plan, std::size_t rank,
                                              const std::vector<std::vector<StreamSize>>& sizes);

/// The first record of each of the own ranges, part by part, counted from where the own output starts; then the end. If
/// ranges are dealt, those of the plan. `sizes`: as below.
std::vector<std::uint64_t> firsts_of_ranges(const ExchangePlan& plan,
                                            const std::vector<std::vector<StreamSize>>& sizes);

/// The records in the streams of one of the own ranges, or of any range if ranges are dealt: for each rank those of its
/// runs. `sizes`: as below.
std::vector<std::vector<std::uint64_t>> records_of_streams(const ExchangePlan& plan,
                                                           const std::vector<std::vector<StreamSize>>& sizes,
                                                           std::size_t range);

/// Reports how many ranks have no memory for a line of each stream of a range. `sizes`: as below. Collective.
void say_passes(const ExchangePlan& plan, const std::vector<std::vector<StreamSize>>& sizes,
                const FewerStreams::Limits& limits, const RankContext& context);

/// The streams that arrive, for each thread of this rank: rank by rank, run by run. `sizes`: the table from each rank,
/// as SizeTables::swap() returns them.
std::vector<std::vector<IncomingStream>> list_incoming(const ExchangePlan& plan,
                                                       const std::vector<std::vector<StreamSize>>& sizes);

}  // namespace hetsort::sort
