// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/exchange/plan_exchange.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace hetsort::sort::test {
namespace {

constexpr std::uint64_t kMegabyte = 1'000'000;
constexpr std::uint64_t kLeast = 10'000;  // bytes of the mean stream

std::vector<RankRuns> ranks_with(std::size_t count, std::uint64_t threads, std::uint64_t runs) {
  return std::vector<RankRuns>(count, {.threads = threads, .runs = runs});
}

/// The bytes of the mean stream if at most `most` threads of each rank merge.
std::uint64_t mean_stream(const std::vector<RankRuns>& ranks, std::uint64_t bytes, std::uint64_t most) {
  std::uint64_t threads = 0;
  std::uint64_t runs = 0;
  for (const RankRuns& rank : ranks) {
    threads += std::min(rank.threads, most);
    runs += rank.runs;
  }
  return bytes / (threads * runs);
}

TEST(ThreadsWorthMerging, of_large_outputs_are_all) {
  EXPECT_EQ(threads_worth_merging(ranks_with(4, 16, 1), 400 * kMegabyte, kLeast), 16U);
  EXPECT_EQ(threads_worth_merging(ranks_with(32, 16, 8), 3'200'000 * kMegabyte, kLeast), 16U);
}

TEST(ThreadsWorthMerging, are_one_if_even_its_streams_are_tiny) {
  EXPECT_EQ(threads_worth_merging(ranks_with(1000, 16, 1), 32 * kMegabyte, kLeast), 1U);
  EXPECT_EQ(threads_worth_merging(ranks_with(3, 16, 1), 0, kLeast), 1U);
}

TEST(ThreadsWorthMerging, give_the_mean_stream_its_least_bytes_and_one_more_does_not) {
  for (const std::uint64_t runs : {1, 3, 8})
    for (const std::uint64_t megabytes : {3, 30, 50, 100}) {
      const std::vector<RankRuns> ranks = ranks_with(10, 16, runs);
      const std::uint64_t threads = threads_worth_merging(ranks, megabytes * kMegabyte, kLeast);
      SCOPED_TRACE(testing::Message() << runs << " runs, " << megabytes << " MB, " << threads << " threads");
      if (threads > 1) {
        EXPECT_GE(mean_stream(ranks, megabytes * kMegabyte, threads), kLeast);
      }
      if (threads < 16) {
        EXPECT_LT(mean_stream(ranks, megabytes * kMegabyte, threads + 1), kLeast);
      }
    }
  EXPECT_EQ(threads_worth_merging(ranks_with(10, 16, 1), 7 * kMegabyte, kLeast), 7U);
  EXPECT_EQ(threads_worth_merging(ranks_with(10, 16, 1), 7 * kMegabyte - 1, kLeast), 6U);
}

TEST(ThreadsWorthMerging, of_unequal_ranks_are_limited_where_there_are_more) {
  // 9 ranks have 2 threads, and one has 64. 7 MB are 700 streams of 10 runs to 70 threads.
  std::vector<RankRuns> ranks = ranks_with(9, 2, 1);
  ranks.push_back({.threads = 64, .runs = 1});
  EXPECT_EQ(threads_worth_merging(ranks, 7 * kMegabyte, kLeast), 52U);
  EXPECT_EQ(threads_worth_merging(ranks, 19 * kMegabyte / 10, kLeast), 1U);
  EXPECT_EQ(threads_worth_merging(ranks, 2 * kMegabyte, kLeast), 2U);
}

TEST(ThreadsWorthMerging, do_not_depend_on_ranks_without_runs) {
  std::vector<RankRuns> ranks = ranks_with(2, 8, 1);
  ranks.push_back({.threads = 8, .runs = 0});
  EXPECT_EQ(threads_worth_merging(ranks, 20 * kLeast * 2, kLeast), 6U);
  EXPECT_EQ(threads_worth_merging(ranks_with(2, 8, 0), 0, kLeast), 8U);
}

TEST(ThreadsWorthMerging, are_all_if_streams_may_be_empty) {
  EXPECT_EQ(threads_worth_merging(ranks_with(1000, 16, 1), 0, 0), 16U);
}

}  // namespace
}  // namespace hetsort::sort::test
