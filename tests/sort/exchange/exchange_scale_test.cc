// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The lists and sizes that one rank makes for an exchange of 10,000 ranks with 16 threads each. Each of them takes a
// few steps a stream of the rank. A step that looked at all ranks for each stream would make this suite take minutes.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sort/exchange/exchange_streams.h"
#include "sort/exchange/plan_exchange.h"
#include "sort/plan/merge_needs.h"
#include "tests/io/scratch.h"

namespace hetsort::sort::test {
namespace {

constexpr std::size_t kManyRanks = 10'000;
constexpr std::size_t kThreadsOfRank = 16;
constexpr std::size_t kAllRanges = kManyRanks * kThreadsOfRank;
constexpr std::size_t kRunsOfRank = 2;  // one in memory, and one that spilled
constexpr std::size_t kThisRank = 4'321;
constexpr std::uint64_t kOtherRanks = kManyRanks - 1;
constexpr std::uint64_t kManyStreams =
    kOtherRanks * kThreadsOfRank * kRunsOfRank;  // those that leave a rank, and as many that arrive

constexpr std::uint32_t kOneRecord = 128;  // a record
constexpr std::uint64_t kSentBlock = std::uint64_t{16} << 10;
constexpr std::uint64_t kRecordsOfBlock = kSentBlock / kOneRecord;  // records
// Records of each run for each range. A portion of the spilled run begins or ends in the middle of a block.
constexpr std::uint64_t kOfMemory = 2 * kRecordsOfBlock + 1;
constexpr std::uint64_t kOfSpilled = kRecordsOfBlock + kRecordsOfBlock / 2;
constexpr std::uint64_t kBlocksOfMemory = 3;
constexpr std::uint64_t kBlocksOfSpilled = 2;

/// One rank of the exchange. All ranks have the same runs, cut at the same places.
class ManyRanksExchange : public ::testing::Test {
 protected:
  ManyRanksExchange() {
    context_.layout.record_bytes = kOneRecord;
    runs_.kept.resize(1);
    runs_.spilled.resize(1);
    runs_.space = std::make_unique<io::SpillSpace>(std::vector<std::string>{folder_ / ""}, kSentBlock, false);
    plan_.me = kThisRank;
    plan_.block_bytes = kSentBlock;
    plan_.of_rank.assign(kManyRanks, {.threads = kThreadsOfRank, .runs = kRunsOfRank, .spilled_runs = 1});
    plan_.shares.assign(kManyRanks, kThreadsOfRank * kManyRanks * (kOfMemory + kOfSpilled));
    for (std::uint64_t range = 0; range <= kAllRanges; ++range)
      plan_.cuts.push_back({range * kOfMemory, range * kOfSpilled});
  }

  /// The table that each rank gets from each other one: a size for each run and thread.
  static std::vector<StreamSize> table() {
    std::vector<StreamSize> sizes;
    for (std::size_t thread = 0; thread < kThreadsOfRank; ++thread) {
      sizes.push_back({kOfMemory, kBlocksOfMemory});
      sizes.push_back({kOfSpilled, kBlocksOfSpilled});
    }
    return sizes;
  }
  /// What arrives from all ranks.
  static std::vector<std::vector<StreamSize>> tables() {
    std::vector<std::vector<StreamSize>> all(kManyRanks, table());
    all[kThisRank].clear();
    return all;
  }

  io::test::Scratch folder_;
  FormedRuns runs_;
  ExchangePlan plan_;
  RankContext context_;
};

bool are_equal_sizes(std::span<const StreamSize> some, std::span<const StreamSize> others) {
  return std::ranges::equal(some, others, [](const StreamSize& one, const StreamSize& other) {
    return one.records == other.records && one.blocks == other.blocks;
  });
}

TEST_F(ManyRanksExchange, plan_counts_streams_and_their_memory) {
  EXPECT_EQ(plan_.ranges(), kAllRanges);
  EXPECT_EQ(plan_.first_range(kThisRank), kThisRank * kThreadsOfRank);
  EXPECT_EQ(plan_.first_ranges()[kThisRank], kThisRank * kThreadsOfRank);
  EXPECT_EQ(plan_.streams_out(kThisRank), kManyStreams);
  EXPECT_EQ(plan_.streams_in(kThisRank), kManyStreams / kThreadsOfRank);
  // Two blocks of each, and a page behind each block for its trailer.
  EXPECT_EQ(exchange_memory_bytes(kManyStreams, kManyStreams, kSentBlock),
            2 * 2 * kManyStreams * (kSentBlock + kPageBytes));
}

TEST_F(ManyRanksExchange, lists_a_stream_that_leaves_for_each_run_and_each_thread_of_another_rank) {
  const OutgoingPortions out = list_outgoing(runs_, plan_, context_);
  ASSERT_EQ(out.streams.size(), kManyStreams);
  EXPECT_EQ(out.is_spilled.size(), kManyStreams);
  EXPECT_EQ(out.in_memory.size(), kManyStreams / kRunsOfRank);
  EXPECT_EQ(out.spilled.size(), kManyStreams / kRunsOfRank);
  std::uint64_t blocks = 0;
  std::uint64_t records = 0;
  std::size_t wrong = 0;
  for (std::size_t at = 0; at < kManyStreams; ++at) {
    const OutgoingStream& stream = out.streams[at];
    const std::size_t rank = at / (kThreadsOfRank * kRunsOfRank);
    if (stream.to != static_cast<int>(rank < kThisRank ? rank : rank + 1) ||
        stream.number != at % (kThreadsOfRank * kRunsOfRank) || out.is_spilled[at] != (at % kRunsOfRank == 1))
      ++wrong;
    blocks += stream.blocks();
    for (const StreamSize& part : stream.parts) records += part.records;
  }
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(blocks, kManyStreams / kRunsOfRank * (kBlocksOfMemory + kBlocksOfSpilled));
  EXPECT_EQ(records, kManyStreams / kRunsOfRank * (kOfMemory + kOfSpilled));
  // The last stream goes to the last thread of the last rank.
  EXPECT_EQ(out.spilled.back().front().first, (kAllRanges - 1) * kOfSpilled);
  EXPECT_EQ(out.spilled.back().front().last, kAllRanges * kOfSpilled);
}

TEST_F(ManyRanksExchange, tables_of_sizes_have_one_for_each_stream_between_two_ranks) {
  const SizeTables::Tables to = list_outgoing(runs_, plan_, context_).sizes_to;
  ASSERT_EQ(to.size(), kManyRanks);
  EXPECT_TRUE(to[kThisRank].empty());
  const std::vector<StreamSize> expected = table();
  EXPECT_EQ(std::ranges::count_if(to, [&](const auto& sizes) { return are_equal_sizes(sizes, expected); }),
            kOtherRanks);
  EXPECT_EQ(sizes_in_tables(plan_)(7, kThisRank), kThreadsOfRank * kRunsOfRank);
}

TEST_F(ManyRanksExchange, lists_no_stream_without_records_but_its_size) {
  for (std::uint64_t range = 1; range < kAllRanges; ++range) plan_.cuts[range] = plan_.cuts[0];
  const OutgoingPortions out = list_outgoing(runs_, plan_, context_);
  ASSERT_EQ(out.streams.size(), kRunsOfRank);
  EXPECT_EQ(out.streams.front().to, static_cast<int>(kManyRanks - 1));
  EXPECT_EQ(out.streams.front().number, (kThreadsOfRank - 1) * kRunsOfRank);
  EXPECT_EQ(out.in_memory.size() + out.spilled.size(), kRunsOfRank);
  EXPECT_EQ(out.sizes_to.front().size(), kThreadsOfRank * kRunsOfRank);
  SizeTables::Tables from(kManyRanks, std::vector<StreamSize>(kThreadsOfRank * kRunsOfRank));
  from[7].back() = {1, 1};
  const std::vector<std::vector<IncomingStream>> in = list_incoming(plan_, from);
  EXPECT_TRUE(in.front().empty());
  ASSERT_EQ(in.back().size(), 1U);
  EXPECT_EQ(in.back().front().from, 7);
  EXPECT_EQ(in.back().front().number, kThreadsOfRank * kRunsOfRank - 1);
}

TEST_F(ManyRanksExchange, sizes_of_ranges_have_the_portion_of_each_run) {
  const std::vector<std::vector<StreamSize>> sizes = sizes_of_ranges(runs_, plan_, context_);
  ASSERT_EQ(sizes.size(), kAllRanges);
  const std::vector<StreamSize> expected{{kOfMemory, kBlocksOfMemory}, {kOfSpilled, kBlocksOfSpilled}};
  EXPECT_EQ(std::ranges::count_if(sizes, [&](const auto& portions) { return are_equal_sizes(portions, expected); }),
            kAllRanges);
}

TEST_F(ManyRanksExchange, lists_a_stream_that_arrives_for_each_thread_and_each_run_of_another_rank) {
  const std::vector<std::vector<IncomingStream>> in = list_incoming(plan_, tables());
  ASSERT_EQ(in.size(), kThreadsOfRank);
  std::uint64_t blocks = 0;
  std::size_t wrong = 0;
  for (std::size_t thread = 0; thread < kThreadsOfRank; ++thread) {
    ASSERT_EQ(in[thread].size(), kManyStreams / kThreadsOfRank);
    for (std::size_t at = 0; at < in[thread].size(); ++at) {
      const IncomingStream& stream = in[thread][at];
      const std::size_t rank = at / kRunsOfRank;
      if (stream.from != static_cast<int>(rank < kThisRank ? rank : rank + 1) ||
          stream.number != thread * kRunsOfRank + at % kRunsOfRank ||
          stream.parts.front().records != (at % kRunsOfRank == 0 ? kOfMemory : kOfSpilled))
        ++wrong;
      blocks += stream.parts.front().blocks;
    }
  }
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(blocks, kManyStreams / kRunsOfRank * (kBlocksOfMemory + kBlocksOfSpilled));
}

TEST_F(ManyRanksExchange, own_ranges_begin_behind_the_records_of_all_ranks_before_them) {
  std::vector<std::uint64_t> expected;
  for (std::uint64_t thread = 0; thread <= kThreadsOfRank; ++thread)
    expected.push_back(thread * kManyRanks * (kOfMemory + kOfSpilled));
  EXPECT_EQ(firsts_of_ranges(plan_, tables()), expected);
}

TEST_F(ManyRanksExchange, a_range_that_is_dealt_has_a_size_for_each_run_of_the_other_ranks) {
  // The tables have the sizes of few ranges here. Those of all ranges would be 51 GB, and plans deal none to so many
  // ranks.
  const std::vector<std::size_t> copied{7, 8'000};
  const std::vector<StreamSize> sizes = sizes_of_range(plan_, tables(), kThreadsOfRank - 1, copied);
  ASSERT_EQ(sizes.size(), kOtherRanks * kRunsOfRank);
  std::uint64_t records = 0;
  for (const StreamSize& size : sizes) records += size.records;
  EXPECT_EQ(records, (kOtherRanks - copied.size()) * (kOfMemory + kOfSpilled));
  EXPECT_EQ(sizes[7 * kRunsOfRank].records, 0U);
}

TEST_F(ManyRanksExchange, ranks_keep_as_many_runs_as_have_room_for_their_blocks_and_lines) {
  constexpr std::uint64_t kLine = 5'000;
  // Streams of one run of each rank: out to all other threads, in to the own ones, and the own run that is read.
  constexpr std::uint64_t kOut = kOtherRanks * kThreadsOfRank;
  constexpr std::uint64_t kIn = kManyRanks * kThreadsOfRank;
  constexpr std::uint64_t kRunBytes = 2 * (kOut + kIn) * (kSentBlock + kPageBytes);
  plan_.of_rank.assign(kManyRanks, {.threads = kThreadsOfRank, .runs = 20, .spilled_runs = 20});
  const auto runs_in = [&](std::uint64_t bytes, std::uint64_t line) {
    return runs_that_fit(plan_, std::vector<std::uint64_t>(kManyRanks, bytes), line);
  };
  EXPECT_EQ(runs_in(5 * kRunBytes, 0), 5U);
  EXPECT_EQ(runs_in(5 * kRunBytes - 1, 0), 4U);
  EXPECT_EQ(runs_in(7 * (kRunBytes + kIn * kLine), kLine), 7U);
  EXPECT_EQ(runs_in(7 * (kRunBytes + kIn * kLine) - 1, kLine), 6U);
  EXPECT_EQ(runs_in(kRunBytes, 0), 2U);
  EXPECT_EQ(runs_in(100 * kRunBytes, 0), 20U);
}

/// What 10,000 ranks need whose runs are in memory.
std::vector<MergeNeed> needs_with(std::uint64_t memory_bytes, Spilling spilling) {
  return std::vector<MergeNeed>(
      kManyRanks, {.memory_bytes = memory_bytes, .threads = kThreadsOfRank, .runs = kRunsOfRank, .spilling = spilling});
}

TEST(ManyRanksNeeds, blocks_of_all_ranks_are_as_large_as_memory_allows_and_no_larger_than_ranges) {
  constexpr std::uint64_t kKiB = std::uint64_t{1} << 10;
  RecordLayout layout;
  layout.record_bytes = kOneRecord;
  constexpr std::uint64_t kOwn = kThreadsOfRank * kRunsOfRank;
  // Two blocks of each stream, and of each own run for each thread, with two pages of slack each.
  const std::uint64_t memory = 2 * (2 * kManyStreams + kOwn) * (60 * kKiB + 2 * kPageBytes);
  EXPECT_EQ(common_block_bytes(needs_with(memory, Spilling::kNothing), layout), 60 * kKiB);
  EXPECT_EQ(common_block_bytes(needs_with(memory - 1, Spilling::kNothing), layout), 56 * kKiB);
  EXPECT_EQ(common_block_bytes(needs_with(memory, Spilling::kAll), layout), 64 * kKiB) << "disks need so much";
  EXPECT_EQ(common_block_bytes(needs_with(memory / 100, Spilling::kNothing), layout), 16 * kKiB);
  EXPECT_EQ(common_block_bytes(needs_with(memory, Spilling::kNothing), layout, 5'000), 8 * kKiB);
  EXPECT_EQ(exchange_bytes_of(needs_with(memory, Spilling::kNothing), kThisRank, 60 * kKiB),
            2 * 2 * kManyStreams * 64 * kKiB);
}

}  // namespace
}  // namespace hetsort::sort::test
