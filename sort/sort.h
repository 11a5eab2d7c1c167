// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The sort: one driver, whether the records come from files or streams and go there, or both are memory of the ranks.
//
// Idea: each phase returns a value that the next one takes, so that no phase can run before those that it needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "comm/communicator.h"
#include "sort/failure/proof_error.h"
#include "sort/failure/request_error.h"
#include "sort/model/monitor.h"
#include "sort/model/rank_result.h"
#include "sort/model/sort_options.h"

namespace hetsort::sort {

/// Sorts. On return the output is complete, proven and in place. On a throw a file at the output's path is untouched,
/// and `result` holds what was known by then.
/// Collective: all ranks of `ranks`. Stable: ties stay in input order. Allocates: options.memory_bytes and a few MiB a
/// thread. Throws: RequestError, ProofError, io::Error, comm::PeerFailed, std::bad_alloc.
void sort_records(const SortOptions& options, comm::Communicator& ranks, Monitor& monitor, RankResult& result);

struct MemorySort {
  RecordLayout layout;                 ///< any layout but lines
  std::span<const std::byte> records;  ///< records of this rank
  std::span<std::byte> sorted;         ///< memory that gets this rank's share, exactly as large; apart from `records`
  std::uint64_t memory_bytes = std::uint64_t{1} << 30;  ///< memory of this rank for indexes and blocks
  std::size_t threads = 1;
  /// Gets the numbers of the records in sorted order, instead of `sorted`, which is empty then. Requires: one rank.
  std::span<std::uint64_t> places{};
};

/// Sorts records that lie in the memory of the ranks: threads merge into `sorted`. Costs 16 bytes of memory a record
/// for the index; records are copied once more if keys lie so near a record's end that reading them may touch what
/// follows. After a throw `request.sorted` holds anything; `request.records` are never changed.
/// Collective: all ranks of `ranks`. Stable: ties stay in the order of the ranks, then of their records. Allocates: up
/// to request.memory_bytes. Throws: RequestError, ProofError, Cancelled, comm::PeerFailed, std::bad_alloc.
void sort_memory(const MemorySort& request, comm::Communicator& ranks, Monitor& monitor, RankResult& result);

}  // namespace hetsort::sort
