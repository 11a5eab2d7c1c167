// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Which rank reads which run of a checkpoint.
//
// In: the share of the input that each rank has, and the runs that it can read. Out: runs without common records, each
// for one rank that can read it. Idea: longer runs come first, because they are merged ones. A run goes to the rank
// that has the middle of its records, so that the runs of a rank are neighbours; if that rank cannot read it, to the
// nearest one that can. Every rank computes the same decision independently. Cost: O(n (log n + ranks)) for
// n offers.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "sort/model/input_segments.h"

namespace hetsort::sort {

/// Consecutive records of the whole input.
struct RecordRange {
  std::uint64_t first_record = 0;
  std::uint64_t records = 0;

  std::uint64_t end_record() const { return first_record + records; }
  // NOLINTNEXTLINE(modernize-use-nullptr): what a defaulted <=> is compared with
  auto operator<=>(const RecordRange&) const = default;
};

/// A run that a rank can read.
struct OfferedRun {
  std::uint64_t journal = 0;  ///< identity of the journal that has it
  RecordRange range{};
  // NOLINTNEXTLINE(modernize-use-nullptr): what a defaulted <=> is compared with
  auto operator<=>(const OfferedRun&) const = default;
};

/// What a rank has to read, and what it can.
struct RankOffer {
  std::vector<RecordRange> share{};
  std::vector<OfferedRun> runs{};
};

/// An offer as numbers, for a message, and back. Throws: std::runtime_error for numbers that are none.
std::vector<std::uint64_t> numbers_of(const RankOffer& offer);
RankOffer offer_of(std::span<const std::uint64_t> numbers);

/// Returns the runs of each rank, in the order of their records.
std::vector<std::vector<OfferedRun>> divide_runs(const std::vector<RankOffer>& offers);

/// What is left of `whole`, whose records have `record_bytes` each, without the records of `ranges`. Requires: `ranges`
/// are in order and have no common records.
std::vector<InputSegment> missing_segments(std::span<const InputSegment> whole, std::span<const RecordRange> ranges,
                                           std::uint64_t record_bytes);

}  // namespace hetsort::sort
