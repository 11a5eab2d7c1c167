// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether the blocks of an exchange stay within the memory of ranks whose records all spill.
//
// Each run of a rank is a stream to every thread of every other rank, and a stream has two blocks at both ends. With
// many ranks and threads the usual blocks are more than -S. Then blocks are smaller, and fewer threads of each rank
// merge. The numbers of runs count as far as neighbours cannot be merged first. Pure functions: all ranks know all
// numbers and decide alike. Cost: O(ranks) a decision, some dozens of decisions to find blocks and threads, and some
// hundreds to find what would suffice.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sort/model/record_order.h"

namespace hetsort::sort {

struct ExchangingRank {
  std::uint64_t memory_bytes = 0;  ///< the requested memory
  std::uint64_t threads = 1;       ///< the requested threads; memory may suffice for fewer
  std::uint64_t runs = 0;          ///< the expected runs
  std::uint64_t min_runs = 1;      ///< the number of runs after a merge that is certainly possible
  std::uint64_t input_bytes = 0;
  std::uint64_t output_bytes = 0;  ///< maximum bytes of the output, as far as that is known
  bool all_spill = false;
  std::uint64_t ranks_on_host = 1;
};

/// What the ranks have in common.
struct ExchangeShape {
  RecordLayout layout;
  std::uint64_t block_bytes = 0;
  bool to_stream = false;     ///< each rank merges with one thread
  bool keeps_blocks = false;  ///< runs that exist have blocks of this size: rather fewer threads than smaller blocks
};

/// How an exchange stays within the memory of all ranks.
struct ExchangeFit {
  std::uint64_t threads = 0;  ///< maximum threads of a rank that merge
  std::uint64_t block_bytes = 0;
};

/// What would suffice.
struct ExchangeShortage {
  std::size_t rank = 0;                       ///< the one that lacks most
  std::uint64_t needed_bytes = 0;             ///< what it needs with one thread and the smallest blocks
  std::optional<std::uint64_t> memory_bytes;  ///< least memory of each rank that suffices, in whole mebibytes
};

/// Memory for the blocks of rank `me` and what its threads have beside them.
std::uint64_t exchange_use_bytes(const ExchangeShape& shape, const std::vector<ExchangingRank>& ranks, std::size_t me);

/// Whether no rank whose records all spill needs more than it has.
bool exchange_fits(const ExchangeShape& shape, const std::vector<ExchangingRank>& ranks);

/// The blocks and threads with which it fits; nothing if one thread and the smallest blocks do not. Blocks become
/// smaller before most threads of a rank have nothing to merge.
std::optional<ExchangeFit> fit_exchange(const ExchangeShape& shape, const std::vector<ExchangingRank>& ranks);

/// The shape of an exchange that needs least memory, of those that fit_exchange() tries.
ExchangeShape smallest_exchange(ExchangeShape shape);

/// Nothing if fit_exchange() finds an exchange. Otherwise the least memory with which it does.
std::optional<ExchangeShortage> exchange_shortage(const ExchangeShape& shape, const std::vector<ExchangingRank>& ranks);

/// The most slices, up to `most`, with which the exchange fits ranks that claim slices of one input: the runs of a
/// slice are neighbours. 1 if there are none.
std::uint64_t slices_to_exchange(const ExchangeShape& shape, std::vector<ExchangingRank> ranks, std::uint64_t most);

}  // namespace hetsort::sort
