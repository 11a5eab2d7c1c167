// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The sort of records that lie in the memory of the ranks: the phases of a sort of files, without files.
//
// In: the records of each rank, and how many each rank ends with. Out: each rank's share of the order, in memory.
// Idea: one run over the records where they are; splitters and exchange as in sort.cc; threads merge into the result.
// Cost: 16 bytes of memory a record for the index, and the blocks of the exchange; records are moved once, and copied
// once more if keys lie so near a record's end that reading them may touch what follows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "comm/communicator.h"
#include "sort/model/monitor.h"
#include "sort/model/rank_result.h"
#include "sort/model/record_order.h"

namespace hetsort::sort {

struct MemorySort {
  RecordLayout layout;                 ///< any layout but lines
  std::span<const std::byte> records;  ///< records of this rank
  std::span<std::byte> sorted;         ///< memory that gets this rank's share, exactly as large; apart from `records`
  std::uint64_t memory_bytes = std::uint64_t{1} << 30;  ///< memory of this rank for indexes and blocks
  std::uint64_t result_bytes = 0;                       ///< part of memory_bytes that the caller has taken for `sorted`
  std::size_t threads = 1;
};

/// Sorts. After a throw `request.sorted` holds anything; `request.records` are never changed.
/// Collective: all ranks of `ranks`. Stable: ties stay in the order of the ranks, then of their records. Allocates: up
/// to request.memory_bytes. Throws: RequestError, ProofError, Cancelled, comm::PeerFailed, std::bad_alloc.
void sort_memory(const MemorySort& request, comm::Communicator& ranks, Monitor& monitor, RankResult& result);

}  // namespace hetsort::sort
