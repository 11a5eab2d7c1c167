// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies of the runs of ranks that have become too slow to send them.
//
// In: where the runs begin in a shared input, and where they are cut at the borders of all ranges. Out: runs in memory
// that are equal to those of the slow rank.
// Idea: a run in memory holds consecutive records of the input. A rank that sees the input can read and index them
// itself; stable order makes the copy equal to the original, so that the cuts hold for both. Cost: one read of the
// slow rank's part of the input by each other rank, and memory for it, which the plan had left for larger shares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "sort/deal/deal_table.h"
#include "sort/input/input.h"
#include "sort/model/rank_context.h"
#include "sort/runs/form_runs.h"

namespace hetsort::sort {

/// Thread safety: any thread.
class RunCopies {
 public:
  /// A run of another rank.
  struct Original {
    std::uint64_t first_record = 0;     ///< number of its first record in the whole input
    std::vector<std::uint64_t> cuts{};  ///< its records before the border of each range, both ends included
  };
  struct Copy {
    std::vector<Original> originals;
    FormedRuns runs;  ///< equal to `originals`, one by one
  };

  /// `own`: the runs of this rank. No runs are copied unless they are from a shared input.
  RunCopies(const FormedRuns& own, const RankContext& context);

  /// What this rank could do about a slow one now.
  Copying ability() const;
  /// Reads the records of these runs of `rank` and indexes them with all threads. Does nothing if there is no room, or
  /// if the input cannot be read or has changed. `thread`, `scratch`: the calling thread, and its room for sorting one
  /// bucket.
  void copy(std::size_t rank, std::vector<Original> originals, std::size_t thread, std::span<Element> scratch);
  /// The ranks whose runs have been copied, in ascending order.
  std::vector<std::size_t> ranks() const;
  /// Requires: the runs of this rank have been copied.
  const Copy& of(std::size_t rank) const;

 private:
  std::uint64_t needed_bytes(std::span<const InputSegment> segments) const;

  const Input* input_;
  RankContext context_;
  double record_seconds_ = 0;
  std::mutex copying_;        // held while runs are copied
  mutable std::mutex mutex_;  // guards the members below
  std::span<std::byte> spare_;
  std::map<std::size_t, Copy> copies_;
};

}  // namespace hetsort::sort
