// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What ranks need for the blocks of the exchange: each run of a rank is a stream to every thread of every rank, and
// each stream has two blocks at both ends. Blocks have the same size on all ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "comm/communicator.h"
#include "sort/model/memory_plan.h"
#include "sort/model/record_order.h"

namespace hetsort::sort {

/// How much of a rank's input spills. A rank whose memory does not suffice goes on to the next value, never back.
enum class Spilling : std::uint8_t { kNothing, kPart, kAll };

struct MergeNeed {
  std::uint64_t memory_bytes = 0;  ///< memory for blocks
  std::uint64_t threads = 1;
  std::uint64_t runs = 0;
  std::uint64_t staging_bytes = 0;                     ///< staging of a thread, as far as it is part of that memory
  std::uint64_t largest_block_bytes = kMaxBlockBytes;  ///< largest block that its staging has room for
  Spilling spilling = Spilling::kNothing;

  bool operator==(const MergeNeed&) const = default;
};

/// The needs of all ranks. Collective. Throws: PeerFailed.
std::vector<MergeNeed> gather_needs(const MergeNeed& mine, comm::Communicator& ranks);

/// The size of the blocks that all ranks use in the exchange and on disk. `range_bytes`: bytes of the largest range
/// that a thread merges, as planned. No stream has more, so that larger blocks would be memory for nothing.
std::uint64_t common_block_bytes(const std::vector<MergeNeed>& needs, const RecordLayout& layout,
                                 std::uint64_t range_bytes = kMaxBlockBytes);

/// The memory of such blocks for the streams that leave rank `me` and for those that arrive there, for all its threads.
std::uint64_t exchange_bytes_of(const std::vector<MergeNeed>& needs, std::size_t me, std::uint64_t block_bytes);

/// The maximum number of slices, up to `most`, with which the smallest blocks of every rank's streams fit the memory
/// for them; 1 if they never do. Sets the needs' runs to that.
std::uint64_t slices_that_fit(std::vector<MergeNeed>& needs, std::uint64_t most);

}  // namespace hetsort::sort
