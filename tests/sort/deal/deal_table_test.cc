// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/deal/deal_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

namespace hetsort::sort::test {
namespace {

constexpr std::uint64_t kRangeRecords = 1000;
constexpr std::uint64_t kRangesEach = 8;

/// A merging thread of each rank, that merges as fast as the test says.
struct Merging {
  double records_per_second = 1000;
  double at = 0;  // when its range is merged
  RangeRequest done;
  std::vector<std::uint64_t> ranges;
  bool ended = false;
};

/// Merges all ranges. `speed(rank, seconds)`: records a second. Returns the ranges of each rank.
template <typename Speed>
std::vector<std::vector<std::uint64_t>> merge_all(std::size_t ranks, const Speed& speed,
                                                  std::optional<std::uint64_t> seed = {}) {
  DealTable table(std::vector<DealTable::Rank>(ranks, {1, kRangesEach, kRangesEach * kRangeRecords}),
                  std::vector<std::uint64_t>(ranks * kRangesEach, kRangeRecords), seed);
  std::vector<Merging> all(ranks);
  const auto begin = [&](std::size_t rank, std::uint64_t range) {
    Merging& merging = all[rank];
    const double seconds = static_cast<double>(kRangeRecords) / speed(rank, merging.at);
    merging.ranges.push_back(range);
    merging.at += seconds;
    merging.done.merged += kRangeRecords;
    merging.done.busy_seconds += seconds;
  };
  for (std::size_t rank = 0; rank < ranks; ++rank) begin(rank, rank * kRangesEach);
  for (int requests = 0; requests < 100'000; ++requests) {
    const auto open = [](const Merging& each) { return each.ended ? 1e9 : each.at; };
    const std::size_t rank = static_cast<std::size_t>(std::ranges::min_element(all, {}, open) - all.begin());
    if (all[rank].ended) break;
    const RangeAnswer answer = table.next(rank, 0, all[rank].done);
    if (answer.kind == RangeAnswer::Kind::kRange) begin(rank, answer.range);
    if (answer.kind == RangeAnswer::Kind::kLater) all[rank].at += 0.02;
    all[rank].ended = answer.kind == RangeAnswer::Kind::kNone;
  }
  std::vector<std::vector<std::uint64_t>> found;
  std::vector<std::uint64_t> merged;
  for (const Merging& each : all) {
    found.push_back(each.ranges);
    merged.insert(merged.end(), each.ranges.begin(), each.ranges.end());
  }
  std::ranges::sort(merged);
  for (std::size_t range = 0; range < ranks * kRangesEach; ++range)
    EXPECT_EQ(range < merged.size() ? merged[range] : 0, range);
  EXPECT_EQ(merged.size(), ranks * kRangesEach);
  return found;
}

TEST(DealTable, ranks_of_about_equal_speed_keep_their_ranges) {
  const auto found = merge_all(4, [](std::size_t rank, double) { return rank == 1 ? 900.0 : 1000.0; });
  for (std::size_t rank = 0; rank < found.size(); ++rank) {
    EXPECT_EQ(found[rank].size(), kRangesEach);
    for (const std::uint64_t range : found[rank]) EXPECT_EQ(range / kRangesEach, rank);
  }
}

TEST(DealTable, a_rank_that_becomes_slow_gets_no_further_range) {
  const auto found = merge_all(4, [](std::size_t rank, double at) { return rank == 2 && at > 1.5 ? 200.0 : 1000.0; });
  EXPECT_LE(found[2].size(), 3);
}

TEST(DealTable, a_rank_that_recovers_gets_ranges_again) {
  const auto found = merge_all(2, [](std::size_t rank, double at) { return rank == 1 && at < 0.5 ? 500.0 : 1000.0; });
  EXPECT_GT(found[1].size(), 3);
}

TEST(DealTable, random_answers_give_each_range_once) {
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    merge_all(
        3, [](std::size_t, double) { return 1000.0; }, seed);
}

TEST(DealTable, any_speeds_give_each_range_once) {
  for (const double slow : {0.001, 0.1, 0.5, 10.0, 1000.0})
    for (std::size_t ranks : {2, 3, 5})
      merge_all(ranks, [&](std::size_t rank, double at) {
        return rank == static_cast<std::size_t>(at) % ranks ? 1000.0 * slow : 1000.0;
      });
}

TEST(DealTable, ranks_without_records_end) {
  DealTable table({{1, 2, 0}, {2, 4, 0}}, std::vector<std::uint64_t>(6, 0));
  int ranges = 0;
  for (int turn = 0; turn < 10; ++turn) {
    if (table.next(0, 0, {}).kind == RangeAnswer::Kind::kRange) ++ranges;
    if (table.next(1, turn % 2, {}).kind == RangeAnswer::Kind::kRange) ++ranges;
  }
  EXPECT_EQ(ranges, 3);
  EXPECT_EQ(table.next(0, 0, {}).kind, RangeAnswer::Kind::kNone);
}

}  // namespace
}  // namespace hetsort::sort::test
