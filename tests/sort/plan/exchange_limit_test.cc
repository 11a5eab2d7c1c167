// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/plan/exchange_limit.h"

#include <gtest/gtest.h>

namespace hetsort::sort::test {
namespace {

constexpr std::uint64_t kKiB = std::uint64_t{1} << 10;
constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;

const ExchangeShape kShape{RecordLayout{}, 64 * kKiB, false};

std::vector<ExchangingRank> ranks_of(std::size_t count, std::uint64_t threads, std::uint64_t memory_bytes,
                                     std::uint64_t bytes) {
  return std::vector<ExchangingRank>(count, {.memory_bytes = memory_bytes,
                                             .threads = threads,
                                             .runs = 2,
                                             .min_runs = 1,
                                             .input_bytes = bytes,
                                             .output_bytes = bytes,
                                             .all_spill = true,
                                             .ranks_on_host = count});
}

TEST(ExchangeLimit, many_ranks_with_many_threads_need_more_than_little_memory) {
  const std::vector<ExchangingRank> ranks = ranks_of(32, 16, 32 * kMebibyte, 100 * kMebibyte);
  const std::optional<ExchangeShortage> shortage = exchange_shortage(kShape, ranks);
  ASSERT_TRUE(shortage);
  // 2 runs to 31 x 16 threads, and back: up to two blocks of 64 KiB and their pages each.
  EXPECT_GE(shortage->needed_bytes, 992 * 2 * 68 * kKiB);
  EXPECT_LT(shortage->needed_bytes, 2 * 992 * 2 * 68 * kKiB);
  ASSERT_TRUE(shortage->memory_bytes);
}

TEST(ExchangeLimit, what_it_recommends_suffices_and_less_does_not) {
  for (const auto& [count, threads] : {std::pair{32, 16}, {16, 32}, {200, 2}, {64, 8}}) {
    const std::vector<ExchangingRank> ranks =
        ranks_of(static_cast<std::size_t>(count), static_cast<std::uint64_t>(threads), 32 * kMebibyte, 100 * kMebibyte);
    const std::optional<ExchangeShortage> shortage = exchange_shortage(kShape, ranks);
    ASSERT_TRUE(shortage) << count;
    const auto fits = [&](std::uint64_t memory_bytes, std::uint64_t of_rank) {
      std::vector<ExchangingRank> others = ranks;
      for (ExchangingRank& rank : others) {
        rank.memory_bytes = memory_bytes;
        rank.threads = of_rank;
      }
      return exchange_fits(kShape, others);
    };
    EXPECT_TRUE(fits(*shortage->memory_bytes, ranks[0].threads)) << count;
    EXPECT_FALSE(fits(*shortage->memory_bytes - kMebibyte, ranks[0].threads)) << count;
  }
}

TEST(ExchangeLimit, smaller_blocks_and_fewer_threads_fit_and_one_more_does_not) {
  for (const auto& [count, threads] : {std::pair{32, 16}, {16, 32}, {200, 2}, {64, 8}, {128, 1}}) {
    std::vector<ExchangingRank> ranks =
        ranks_of(static_cast<std::size_t>(count), static_cast<std::uint64_t>(threads), 32 * kMebibyte, 100 * kMebibyte);
    const std::optional<ExchangeFit> fit = fit_exchange(kShape, ranks);
    ASSERT_TRUE(fit) << count;
    EXPECT_LE(fit->threads, static_cast<std::uint64_t>(threads));
    const ExchangeShape shape{kShape.layout, fit->block_bytes, false};
    const auto fits = [&](std::uint64_t of_rank) {
      for (ExchangingRank& rank : ranks) rank.threads = of_rank;
      return exchange_fits(shape, ranks);
    };
    EXPECT_TRUE(fits(fit->threads)) << count;
    if (fit->threads == static_cast<std::uint64_t>(threads)) continue;
    EXPECT_FALSE(fits(fit->threads + 1)) << count;
  }
}

TEST(ExchangeLimit, an_exchange_that_fits_keeps_its_threads_and_blocks) {
  const std::optional<ExchangeFit> fit = fit_exchange(kShape, ranks_of(8, 4, 256 * kMebibyte, 1000 * kMebibyte));
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->threads, 4U);
  EXPECT_EQ(fit->block_bytes, kShape.block_bytes);
}

TEST(ExchangeLimit, thousands_of_ranks_of_16_threads_with_8_runs_fit_1_or_2_GiB) {
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
  for (const auto& [count, limit] : {std::pair{std::size_t{1'000}, kGiB}, {10'000, 2 * kGiB}}) {
    std::vector<ExchangingRank> ranks = ranks_of(count, 16, limit - 48 * kMebibyte, 16 * kGiB);
    for (ExchangingRank& rank : ranks) {
      rank.runs = 8;
      rank.ranks_on_host = 1;
    }
    const std::optional<ExchangeFit> fit = fit_exchange(kShape, ranks);
    ASSERT_TRUE(fit) << count;
    for (ExchangingRank& rank : ranks) rank.threads = fit->threads;
    EXPECT_LE(exchange_use_bytes({kShape.layout, fit->block_bytes, false}, ranks, 0), limit) << count;
  }
}

TEST(ExchangeLimit, more_ranks_than_the_smallest_blocks_have_room_for_do_not_fit) {
  const std::vector<ExchangingRank> ranks = ranks_of(10'000, 16, 256 * kMebibyte, 4000 * kMebibyte);
  EXPECT_FALSE(fit_exchange(kShape, ranks));
  EXPECT_TRUE(exchange_shortage(smallest_exchange(kShape), ranks));
}

TEST(ExchangeLimit, many_ranks_on_a_host_leave_less_beside_the_memory) {
  EXPECT_EQ(beside_memory_bytes(1), 48 * kMebibyte);
  EXPECT_EQ(beside_memory_bytes(8), 48 * kMebibyte);
  EXPECT_EQ(beside_memory_bytes(16), 40 * kMebibyte);
  EXPECT_EQ(beside_memory_bytes(1000), 20 * kMebibyte);
}

TEST(ExchangeLimit, refuses_nothing_that_stays_within_the_memory) {
  for (const std::uint64_t memory : {1, 3, 8, 32, 1000})
    for (const std::size_t count : {2, 3, 4, 8})
      EXPECT_FALSE(exchange_shortage(kShape, ranks_of(count, 4, memory * kMebibyte, 1000 * kMebibyte)))
          << memory << ", " << count;
  // Memory for few threads: blocks for few streams.
  EXPECT_FALSE(exchange_shortage(kShape, ranks_of(32, 16, 3 * kMebibyte, 100 * kMebibyte)));
}

TEST(ExchangeLimit, blocks_of_small_inputs_take_what_they_hold) {
  EXPECT_TRUE(exchange_shortage(kShape, ranks_of(32, 16, 32 * kMebibyte, 10 * kMebibyte)));
  EXPECT_FALSE(exchange_shortage(kShape, ranks_of(32, 16, 32 * kMebibyte, 20 * kKiB)));
}

TEST(ExchangeLimit, ranks_that_keep_their_records_are_not_judged) {
  std::vector<ExchangingRank> ranks = ranks_of(32, 16, 32 * kMebibyte, 100 * kMebibyte);
  for (ExchangingRank& rank : ranks) rank.all_spill = false;
  EXPECT_FALSE(exchange_shortage(kShape, ranks));
}

TEST(ExchangeLimit, an_output_that_is_a_stream_is_merged_by_one_thread) {
  ExchangeShape shape = kShape;
  shape.to_stream = true;
  EXPECT_FALSE(exchange_shortage(shape, ranks_of(32, 16, 32 * kMebibyte, 100 * kMebibyte)));
}

TEST(ExchangeLimit, names_the_rank_that_lacks_most) {
  std::vector<ExchangingRank> ranks = ranks_of(32, 16, 1000 * kMebibyte, 100 * kMebibyte);
  ranks[5].memory_bytes = 32 * kMebibyte;
  const std::optional<ExchangeShortage> shortage = exchange_shortage(kShape, ranks);
  ASSERT_TRUE(shortage);
  EXPECT_EQ(shortage->rank, 5U);
}

TEST(ExchangeLimit, claimed_slices_are_fewer_where_memory_has_no_room_for_their_runs) {
  std::vector<ExchangingRank> ranks = ranks_of(4, 4, 8 * kMebibyte, 1000 * kMebibyte);
  for (ExchangingRank& rank : ranks) rank.runs = 100;
  EXPECT_EQ(slices_to_exchange(kShape, ranks, 8), 8U);
  ranks = ranks_of(16, 8, 16 * kMebibyte, 1000 * kMebibyte);
  for (ExchangingRank& rank : ranks) rank.runs = 100;
  const std::uint64_t slices = slices_to_exchange(kShape, ranks, 8);
  EXPECT_LT(slices, 8U);
  for (ExchangingRank& rank : ranks) rank.min_runs = slices + 1;
  EXPECT_FALSE(exchange_fits(kShape, ranks));
}

}  // namespace
}  // namespace hetsort::sort::test
