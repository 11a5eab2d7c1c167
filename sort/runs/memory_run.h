// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A sorted run in memory: records where they were read, and the index of their order.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "sort/rank_context.h"
#include "sort/runs/bucket_index.h"
#include "sort/runs/permute.h"

namespace hetsort::sort {

/// Buckets are sorted when they are first accessed, and stay sorted. `scratch`: BucketIndex::kScratchElements elements.
/// Thread safety: concurrent calls must not access the same bucket before it is sorted; sort_border() sorts the buckets
/// that two ranges of records share.
struct MemoryRun {
  std::uint64_t first_record = 0;  ///< number of its first record in the whole input
  RecordMemory memory;
  std::unique_ptr<BucketIndex> index;
  /// Where its last record ends in memory. The index may have splitters that were sampled behind it: they are not
  /// records of the run.
  std::uint64_t end_offset = UINT64_MAX;

  std::uint64_t records() const { return index->records(); }
  /// Copies records [position, position + count) to `to`, in order.
  void copy(std::uint64_t position, std::uint64_t count, std::span<Element> scratch, std::byte* to) const;
  /// Sorts the bucket that contains `position`.
  void sort_border(std::uint64_t position, std::span<Element> scratch) const;
};

/// Sorts all buckets of all runs with all of this rank's threads. Throws: what parallel work throws.
void sort_buckets(std::span<const MemoryRun> runs, const RankContext& context);

}  // namespace hetsort::sort
