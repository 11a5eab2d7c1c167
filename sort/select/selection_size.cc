// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/select/selection_size.h"

#include <algorithm>

#include "sort/select/quantile_summary.h"
#include "sort/select/sorted_runs.h"

namespace hetsort::sort {

namespace {

// A message has this size at most, unless the marks of one search need more. In larger ones a rank of the tree would
// wait longer before it can begin to combine.
constexpr std::uint64_t kSummaryBytes = 1'800'000;
// Marks of a round with few splitters, which need fewer rounds then.
constexpr std::uint64_t kMinMarksOfRound = 512;
// Marks for each splitter. With fewer it would need more rounds.
constexpr std::uint64_t kMarksOfSplitter = 64;
// Marks for each range of about equal size. An error of half a mark makes a range 3 % larger.
constexpr std::uint64_t kMarksOfRange = 16;
// Marks of the parts of a rank that are divided, if the ranges are few. They cost nothing, and make ranges equal within
// 1 %.
constexpr std::uint64_t kMarksOfRanges = 8192;

std::uint64_t mark_bytes(std::size_t key_bytes) {
  return encoded_mark_bytes(key_bytes == kAnyKeyBytes ? sizeof(std::uint64_t) + kMarkKeyBytes : key_bytes);
}

/// Bytes of a mark without bounds: its key with its length, run and position.
std::uint64_t border_bytes(std::size_t key_bytes) {
  return 3 * sizeof(std::uint64_t) + (key_bytes == kAnyKeyBytes ? kMarkKeyBytes : key_bytes);
}

SelectionSizes with_marks(const SelectionRound& round, std::uint64_t marks) {
  SelectionSizes sizes;
  sizes.marks = std::min(marks, std::max(kMarksOfSplitter, kSummaryBytes / mark_bytes(round.key_bytes) - 1));
  // Errors of many ranks cancel each other out, so that few marks of each rank suffice.
  const std::uint64_t most_own = std::max<std::uint64_t>(128, 1024 / round.ranks);
  sizes.own_marks = std::min(sizes.marks, std::clamp<std::uint64_t>(8 * sizes.marks / round.ranks, 4, most_own));
  const std::uint64_t search_bytes = encoded_search_bytes() + (sizes.marks + 1) * mark_bytes(round.key_bytes);
  sizes.searches_a_message = std::clamp<std::uint64_t>(kSummaryBytes / search_bytes, 1, round.searches);
  sizes.messages = (round.searches + sizes.searches_a_message - 1) / sizes.searches_a_message;
  sizes.message_bytes = sizes.searches_a_message * search_bytes;
  return sizes;
}

}  // namespace

SelectionSizes exact_round(const SelectionRound& round) {
  const std::uint64_t all = std::max(kMinMarksOfRound, kMarksOfSplitter * round.splitters);
  return with_marks(round, std::max(round.takes_all ? kFewRecords : kMarksOfSplitter, all / round.searches));
}

DivisionSizes division_sizes(const SelectionRound& round) {
  const std::uint64_t searches = std::max<std::uint64_t>(1, round.searches);
  const std::uint64_t all = std::max(kMarksOfRanges, kMarksOfRange * round.splitters);
  const SelectionSizes of_part = with_marks(round, std::clamp(all / searches, kMarksOfRange, kMinMarksOfRound));
  DivisionSizes sizes{.marks = of_part.marks, .own_marks = of_part.own_marks};
  // A summary that was thinned has its last mark besides.
  constexpr std::uint64_t kMoreMarks = 2;
  const std::uint64_t part_bytes =
      encoded_search_bytes() + (sizes.own_marks + kMoreMarks) * mark_bytes(round.key_bytes);
  sizes.summary_bytes = sizeof(std::uint64_t) + searches * part_bytes;
  sizes.border_bytes = searches * sizeof(std::uint64_t) + round.splitters * border_bytes(round.key_bytes);
  return sizes;
}

}  // namespace hetsort::sort
