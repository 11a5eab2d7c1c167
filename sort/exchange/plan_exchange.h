// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The plan of phase exchange: which records of which run go to which thread of which rank.
//
// In: each rank's sorted runs, the output's shares. Out: on each rank its runs, cut at the borders of all ranges: each
// rank's share consists of its parts (one, unless the rank emulates several processes), each part of one range a
// thread. Idea: the ranks announce how many runs they have and where in the input each begins. If streams would be
// tiny, fewer threads of each rank merge. If some rank's memory has not two blocks for each of its streams, the ranks
// that spilled merge neighbouring runs until it has. Then phase select_splitters finds the cuts: exact ones between
// parts, and about equal ranges within a part. If ranges may be dealt (sort/deal/deal_table.h), each share is divided
// into more ranges than the rank has threads. Cost: one reduction of O(ranks + runs) numbers, and another for each
// round of merging; one read and write of the runs that are merged; and the splitter selection
// (select_across_ranks.h, divide_parts.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sort/exchange/outgoing_streams.h"
#include "sort/model/rank_context.h"
#include "sort/model/shares.h"
#include "sort/model/test_hooks.h"
#include "sort/output/output.h"
#include "sort/runs/form_runs.h"
#include "sort/select/select_splitters.h"

namespace hetsort::sort {

/// What all ranks know of the runs of each rank once they are formed.
struct RankRuns {
  std::uint64_t threads = 1;  ///< ranges of each part of its share
  std::uint64_t parts = 1;    ///< parts of its share; it begins them one after the other
  std::uint64_t runs = 0;
  std::uint64_t spilled_runs = 0;       ///< runs among these that spilled; they are read back while they are merged
  std::uint64_t min_runs = 0;           ///< fewest runs that merging leaves: it merges neighbours in the input only
  std::vector<std::uint64_t> places{};  ///< number of each run's first record in the whole input

  std::uint64_t ranges() const { return threads * parts; }
};

/// What a rank announces once it has formed its runs.
struct FormedRank {
  Work work{};                      ///< shows the speed of the rank
  std::uint64_t input_records = 0;  ///< number of records that it has read
  /// Its runs, and the maximum numbers of its threads and of its parts.
  RankRuns runs{};
  std::uint64_t memory_bytes = 0;  ///< memory for blocks and lines of streams
};

struct ExchangePlan {
  std::size_t me = 0;  ///< this rank
  std::vector<RankRuns> of_rank{};
  std::vector<std::uint64_t> shares{};  ///< shares of the output, in records
  /// The cuts of this rank's runs at the borders of all ranges of all ranks, both ends of the output included.
  std::vector<Cut> cuts{};
  /// If ranges are dealt: the first record of each range of all ranks, counted from where the whole output starts; then
  /// the end.
  std::vector<std::uint64_t> range_first{};
  bool is_dealt = false;  ///< any rank may merge any range that has not begun (sort/deal/deal_table.h)
  /// For lines: where the volumes of the own output begin, without the first one. Empty if there is only one.
  std::vector<std::uint64_t> volume_first{};
  std::uint64_t block_bytes = 0;            ///< bytes of records in the largest block of any rank
  std::uint64_t credits = kInitialCredits;  ///< blocks for which each stream has memory at its receiver
  bool is_sparse = false;                   ///< most streams have one block, which does not fill its memory
  bool shares_memory = false;               ///< streams between ranks of one host are worth memory that both map

  /// The number of the first range of `rank` among all ranges.
  std::size_t first_range(std::size_t rank) const;
  /// first_range() of each rank, then ranges().
  std::vector<std::size_t> first_ranges() const;
  std::size_t ranges() const { return first_range(of_rank.size()); }
  /// The number of streams that leave a rank, and of those that arrive for one of its threads.
  std::size_t streams_out(std::size_t rank) const;
  std::size_t streams_in(std::size_t rank) const;
};

/// Whether runs are merged by an exchange. Shares of several parts are, and several runs of which some are in memory,
/// even on a single rank.
bool needs_exchange(const FormedRuns& runs, const RankContext& context, const Shares& shares, const Output& output);

/// What all ranks announce, in rank order. `mine`: the work and the records of this rank; the rest is added.
/// Collective. Throws: std::runtime_error for numbers that no rank can have; PeerFailed.
std::vector<FormedRank> gather_formed(const FormedRuns& runs, const RankContext& context, const Output& output,
                                      const FormedRank& mine);

/// The number of threads of each rank, at most, that merge if the mean stream is to have `min_stream_bytes`: a stream
/// to each costs messages and memory, however small it is. At least 1; pure. `output_bytes`: of all ranks.
std::uint64_t threads_worth_merging(const std::vector<RankRuns>& ranks, std::uint64_t output_bytes,
                                    std::uint64_t min_stream_bytes);

/// The number of runs that a rank may keep, at least two, so that every rank has memory for two blocks of each of its
/// streams and for a line of each stream that it merges. Pure. `memory_bytes`: each rank's memory for both. Cost:
/// O(ranks) a halving of the runs.
std::uint64_t runs_that_fit(const ExchangePlan& plan, const std::vector<std::uint64_t>& memory_bytes,
                            std::uint64_t line_bytes);

/// Memory of a thread of this rank for lines of the streams that it merges, if blocks cut them: its part of what blocks
/// leave of the rank's memory, and of what the rank may use beside that. At least FewerStreams::two_lines().
std::uint64_t memory_for_lines(const ExchangePlan& plan, const FormedRuns& runs, const RankContext& context);

/// What the exchange is planned from.
struct ExchangeRequest {
  const Shares& shares;
  const Output& output;
  std::vector<FormedRank> formed;  ///< result of gather_formed()
  std::optional<Redeal> redeal{};  ///< ranges may be dealt, if the output is large enough
};

/// Plans the exchange; merges neighbouring runs first where memory asks for it. Collective. Throws: io::Error;
/// PeerFailed.
ExchangePlan plan_exchange(FormedRuns& runs, const RankContext& context, ExchangeRequest request);

/// The memory that the streams of a rank need with `credits` blocks of block_bytes each: `out` streams that leave the
/// rank, and `in` streams that arrive in all its ranges. The buffers for reading own spilled runs are not included.
std::uint64_t exchange_memory_bytes(std::uint64_t out, std::uint64_t in, std::uint64_t block_bytes,
                                    std::uint64_t credits = kInitialCredits);

}  // namespace hetsort::sort
