// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A sorted run in memory: records where they were read, and the index of their order.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sort/model/rank_context.h"
#include "sort/output/permute.h"
#include "sort/runs/bucket_index.h"

namespace hetsort::sort {

/// Buckets are sorted when they are first accessed, and stay sorted. `scratch`: BucketIndex::kScratchElements elements.
/// Thread safety: concurrent calls must not access the same bucket before it is sorted; sort_border() sorts the buckets
/// that two ranges of records share.
struct MemoryRun {
  std::uint64_t first_record = 0;  ///< number of the run's first record in the whole input
  RecordMemory memory;
  std::unique_ptr<BucketIndex> index;
  /// The place in memory where the last record ends. The index may have splitters that were sampled behind it: they are
  /// not records of the run.
  std::uint64_t end_offset = UINT64_MAX;

  std::uint64_t records() const { return index->records(); }
  /// Copies records [position, position + count) to `to`, in order. Not for lines.
  void copy(std::uint64_t position, std::uint64_t count, std::span<Element> scratch, std::byte* to) const;
  /// Sorts the bucket that contains `position`.
  void sort_border(std::uint64_t position, std::span<Element> scratch) const;
};

/// Reads a sorted run of lines byte by byte, from one position on. Thread safety: as MemoryRun.
class LineCursor {
 public:
  /// `scratch`: BucketIndex::kScratchElements elements. Requires: a line begins at `position`, or the run ends there.
  LineCursor(const MemoryRun& run, std::uint64_t position, std::span<Element> scratch);

  /// Copies the next `count` bytes to `to`. Requires: the run has so many.
  void copy(std::uint64_t count, std::byte* to);
  /// The line that contains the next byte. Requires: this is not the end of the run.
  std::span<const std::byte> line();
  /// Goes to the first byte of the next line.
  void pass_line();

 private:
  void open_bucket();

  const MemoryRun* run_;
  std::span<Element> scratch_;
  std::size_t bucket_ = 0;
  std::size_t element_ = 0;     // number of the line of the next byte, in its bucket
  std::size_t passed_ = 0;      // bytes of this line that were copied
  std::vector<Element> batch_;  // elements of the bucket from batch_first_ on
  std::size_t batch_first_ = 0;
};

/// Reads a sorted run from one position on. Thread safety: as MemoryRun.
class RunCursor {
 public:
  /// `scratch`, requires: as LineCursor.
  RunCursor(const MemoryRun& run, std::uint64_t position, std::span<Element> scratch);

  /// Copies the next `count` records, or bytes of lines, to `to`. Requires: the run has so many.
  void copy(std::uint64_t count, std::byte* to);

 private:
  const MemoryRun* run_;
  std::uint64_t position_;
  std::span<Element> scratch_;
  std::optional<LineCursor> lines_{};
};

/// Sorts all buckets of all runs with all of this rank's threads. Throws: what parallel work throws.
void sort_buckets(std::span<const MemoryRun> runs, const RankContext& context);

}  // namespace hetsort::sort
