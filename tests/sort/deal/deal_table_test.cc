// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/deal/deal_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
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

/// Merges all ranges. `speed(rank, seconds)`: records a second. `seed`: answers are random. `blame`: threads wait for
/// ranks that this chooses. Returns the ranges of each rank.
template <typename Speed>
std::vector<std::vector<std::uint64_t>> merge_all(std::size_t ranks, const Speed& speed,
                                                  std::optional<std::uint64_t> seed = {},
                                                  std::mt19937_64* blame = nullptr) {
  DealTable table(std::vector<DealTable::Rank>(ranks, {1, kRangesEach, kRangesEach * kRangeRecords, blame != nullptr}),
                  std::vector<std::uint64_t>(ranks * kRangesEach, kRangeRecords), seed);
  std::vector<Merging> all(ranks);
  std::size_t copies = 0;
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
    RangeRequest& request = all[rank].done;
    if (blame != nullptr) {
      request.copying = {ranks * kRangesEach * kRangeRecords, 1e-9};
      request.waited_for = (*blame)() % ranks;
      request.waited_seconds = all[rank].at - request.seconds;
      request.seconds = all[rank].at;
    }
    const RangeAnswer answer = table.next(rank, 0, request);
    copies += answer.kind == RangeAnswer::Kind::kCopy ? 1 : 0;
    if (answer.kind == RangeAnswer::Kind::kRange) begin(rank, answer.number);
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
  EXPECT_LE(copies, (ranks - 1) * (ranks - 1)) << "each rank copies each other one once, and one rank stays";
  if (blame == nullptr) {
    EXPECT_EQ(copies, 0U);
  }
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

/// Four ranks of which the last one sends so slowly that the others wait for it most of the time.
struct SlowSender {
  std::uint64_t room = 20'000;   ///< records of other ranks that each rank has memory for
  double record_seconds = 1e-5;  ///< time to copy a record
  double waited_part = 0.8;      ///< part of the time for which the others wait for it
  bool can_be_copied = true;
  double waited_until = 5;                      ///< seconds after which nobody waits for it
  std::vector<std::uint64_t> ranges_of_slow{};  ///< ranges that it was given

  /// The ranks that are told to copy its runs, in five seconds.
  std::vector<std::size_t> copiers() {
    constexpr std::uint64_t kHeld = 10'000;
    DealTable table(std::vector<DealTable::Rank>(4, {1, 10, kHeld, can_be_copied}),
                    std::vector<std::uint64_t>(40, 1000));
    std::vector<std::size_t> found;
    std::vector<RangeRequest> of_rank(4);
    for (double seconds = 0.1; seconds < 5; seconds += 0.1)
      for (std::size_t rank = 0; rank < 4; ++rank) {
        RangeRequest& request = of_rank[rank];
        request.merged += 10;
        request.busy_seconds += 0.02;
        request.wants_range = rank == 3;
        request.copying = {room, record_seconds};
        request.waited_for = rank == 3 ? 0 : 3;
        request.waited_seconds = rank == 3 || seconds > waited_until ? 0 : 0.1 * waited_part;
        request.seconds = seconds;
        const RangeAnswer answer = table.next(rank, 0, request);
        if (answer.kind == RangeAnswer::Kind::kRange) ranges_of_slow.push_back(answer.number);
        if (answer.kind != RangeAnswer::Kind::kCopy) continue;
        EXPECT_EQ(answer.number, 3U);
        found.push_back(rank);
        ranges_of_slow.clear();
      }
    std::ranges::sort(found);
    return found;
  }
};

TEST(DealTable, a_rank_that_all_others_wait_for_is_copied_once_by_each_and_gets_no_more_ranges) {
  SlowSender job;
  EXPECT_EQ(job.copiers(), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(job.ranges_of_slow, std::vector<std::uint64_t>());
}

TEST(DealTable, nobody_is_copied_without_need_or_gain) {
  EXPECT_TRUE(SlowSender{.waited_part = 0.2}.copiers().empty()) << "the others hardly wait";
  EXPECT_TRUE(SlowSender{.record_seconds = 1}.copiers().empty()) << "copying takes longer";
  EXPECT_TRUE(SlowSender{.room = 9'999}.copiers().empty()) << "memory has no room";
  EXPECT_TRUE(SlowSender{.can_be_copied = false}.copiers().empty()) << "others do not see its records";
  EXPECT_TRUE(SlowSender{.waited_until = 0.25}.copiers().empty()) << "it was slow for a moment";
}

TEST(DealTable, each_range_is_given_once_whoever_is_copied) {
  std::mt19937_64 blame(1);
  for (const double slow : {0.01, 0.1, 1.0})
    for (const std::size_t ranks : {2, 3, 5})
      for (int times = 0; times < 20; ++times)
        merge_all(
            ranks,
            [&](std::size_t rank, double at) {
              const double of_others = at < 2 * times ? 1000.0 : 10.0;  // then they are no longer better than it
              return rank == 0 ? 1000.0 * slow : of_others;
            },
            {}, &blame);
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
