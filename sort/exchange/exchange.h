// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Phase exchange, together with merge_runs: run segments go where they belong and are merged while they arrive.
//
// In: each rank's sorted runs and their cuts at the borders of all ranges: each rank's share is cut into its parts
// (one, unless it emulates several processes), each part into one range a thread. Out: each rank's share of the output,
// in order and verified. Idea: the segments of a run that one thread merges are one stream of blocks, part after part;
// nothing is merged at the source, and the own segments go to the merge by reference. One thread sends blocks for which
// their receiver has room, the merging threads take blocks as they arrive. Every stream has memory of its own at both
// ends, so whichever stream a merge waits for can always move: no order of the data can lock ranks up. Cost: (size - 1)
// / size of the data over the network once; memory for two blocks of each stream at both ends.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "sort/merge/merge_runs.h"

namespace hetsort::sort {

/// What all ranks know of each rank once runs are formed.
struct RankRuns {
  std::uint64_t threads = 1;  ///< ranges of each part of its share
  std::uint64_t parts = 1;    ///< of its share, merged one after the other
  std::uint64_t runs = 0;
  std::uint64_t fewest = 0;             ///< to which they can be merged: neighbours in the whole input only
  std::vector<std::uint64_t> places{};  ///< of each run's first record in the whole input
};

struct ExchangePlan {
  comm::Communicator& ranks;
  std::vector<RankRuns> of_rank{};
  std::vector<std::uint64_t> shares{};  ///< of the output, in records
  /// Own runs, cut at the borders of all ranges of all ranks, both ends of the output included.
  std::vector<Cut> cuts{};
  /// First record of each of the own ranges, part by part, counted from where the own output starts; and the end.
  std::vector<std::uint64_t> range_first{};
  std::uint64_t block_bytes = 0;  ///< of records in the largest block of any rank

  std::size_t me() const { return static_cast<std::size_t>(ranks.rank()); }
  /// The number of rank `rank`'s first range among all ranges.
  std::size_t first_range(std::size_t rank) const;
  /// Streams that leave a rank, and those that come in for one of its threads.
  std::size_t streams_out(std::size_t rank) const;
  std::size_t streams_in(std::size_t rank) const;
};

/// Exchanges and merges. Returns what was written. Collective. Throws: io::Error; PeerFailed; on a throw no message
/// touches this rank's memory any more.
OrderVerifier exchange_and_merge(const FormedRuns& runs, const ExchangePlan& plan, const RankContext& context,
                                 Output& output);

/// Memory that the streams of a rank need with blocks of block_bytes, besides what it reads its own spilled runs into:
/// `out` streams that leave it and `in` that arrive in all its ranges.
std::uint64_t exchange_memory_bytes(std::uint64_t out, std::uint64_t in, std::uint64_t block_bytes);

}  // namespace hetsort::sort
