// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/plan/exchange_limit.h"

#include <gtest/gtest.h>

#include "sort/model/memory_plan.h"

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
  EXPECT_FALSE(exchange_fits(kShape, ranks));
  // 2 runs to 31 x 16 threads, and back: up to two blocks of 64 KiB and their pages each.
  const std::uint64_t needed = exchange_use_bytes(kShape, ranks, 0);
  EXPECT_GE(needed, 992 * 2 * 68 * kKiB);
  EXPECT_LT(needed, 2 * 992 * 2 * 68 * kKiB);
}

/// Ranks that find no exchange, and what they exchange.
struct Refused {
  std::size_t ranks = 0;
  std::uint64_t threads = 1;
  std::uint64_t runs = 2;
  std::uint64_t input_bytes = 4000 * kMebibyte;
  ExchangeShape shape = kShape;

  std::vector<ExchangingRank> with_memory(std::uint64_t memory_bytes) const {
    std::vector<ExchangingRank> all = ranks_of(ranks, threads, memory_bytes, input_bytes);
    // The last one has more to read, and more runs.
    all.back().input_bytes *= 2;
    for (ExchangingRank& rank : all) rank.runs = runs;
    all.back().runs = runs + 1;
    return all;
  }
  /// `with_memory()` of ranks that cannot merge any runs.
  std::vector<ExchangingRank> that_keep_runs(std::uint64_t memory_bytes) const {
    std::vector<ExchangingRank> all = with_memory(memory_bytes);
    for (ExchangingRank& rank : all) rank.min_runs = rank.runs;
    return all;
  }
};

ExchangeShape shape_of(std::uint32_t record_bytes, std::uint64_t block_bytes) {
  ExchangeShape shape = kShape;
  shape.layout.record_bytes = record_bytes;
  shape.block_bytes = block_bytes;
  return shape;
}

std::vector<Refused> refused_exchanges() {
  ExchangeShape to_stream = kShape;
  to_stream.to_stream = true;
  ExchangeShape keeps_blocks = kShape;
  keeps_blocks.keeps_blocks = true;
  return {{.ranks = 10'000, .threads = 16},
          {.ranks = 10'000, .threads = 16, .runs = 8},
          {.ranks = 1'000, .threads = 1, .runs = 20},
          {.ranks = 1'000, .threads = 64, .runs = 3},
          {.ranks = 300, .threads = 2, .runs = 7},
          {.ranks = 300, .threads = 3, .input_bytes = 30 * kMebibyte},
          {.ranks = 500, .threads = 4, .runs = 5, .shape = to_stream},
          {.ranks = 500, .threads = 4, .runs = 5, .shape = keeps_blocks},
          {.ranks = 16, .threads = 4, .runs = 5, .shape = shape_of(1 << 20, kMebibyte)}};
}

TEST(ExchangeLimit, the_memory_that_it_names_suffices_for_an_exchange_and_a_mebibyte_less_does_not) {
  for (const Refused& refused : refused_exchanges()) {
    for (const auto with_memory : {&Refused::with_memory, &Refused::that_keep_runs}) {
      SCOPED_TRACE(testing::Message() << refused.ranks << " ranks, " << refused.threads << " threads, " << refused.runs
                                      << " runs, " << (with_memory == &Refused::with_memory ? "merged" : "kept"));
      const std::vector<ExchangingRank> ranks = (refused.*with_memory)(kMebibyte);
      const std::optional<ExchangeShortage> shortage = exchange_shortage(refused.shape, ranks);
      ASSERT_TRUE(shortage);
      ASSERT_TRUE(shortage->memory_bytes);
      const std::uint64_t least = *shortage->memory_bytes;
      EXPECT_EQ(least % kMebibyte, 0U);
      EXPECT_TRUE(fit_exchange(refused.shape, (refused.*with_memory)(least)));
      EXPECT_FALSE(fit_exchange(refused.shape, (refused.*with_memory)(least - kMebibyte)));
      EXPECT_GT(shortage->needed_bytes, ranks[shortage->rank].memory_bytes);
    }
  }
}

TEST(ExchangeLimit, the_memory_that_it_names_for_10000_ranks_is_that_of_one_thread_each) {
  const std::vector<ExchangingRank> ranks = ranks_of(10'000, 16, 256 * kMebibyte, 4000 * kMebibyte);
  const std::optional<ExchangeShortage> shortage = exchange_shortage(kShape, ranks);
  ASSERT_TRUE(shortage);
  ASSERT_TRUE(shortage->memory_bytes);
  // 2 runs to 9,999 threads, and back: two blocks of 16 KiB and their pages each. All 16 threads would need 16 times
  // that.
  const std::uint64_t blocks = std::uint64_t{2} * 2 * 9'999 * 2 * 20 * kKiB;
  EXPECT_LT(*shortage->memory_bytes, blocks + 2 * kMebibyte);
  EXPECT_GT(*shortage->memory_bytes, blocks - 2 * beside_memory_bytes(1));
  EXPECT_LT(shortage->needed_bytes, 2 * blocks) << "counts all threads";
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
  EXPECT_TRUE(exchange_shortage(kShape, ranks));
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
      EXPECT_TRUE(exchange_fits(kShape, ranks_of(count, 4, memory * kMebibyte, 1000 * kMebibyte)))
          << memory << ", " << count;
  // Memory for few threads: blocks for few streams.
  EXPECT_TRUE(exchange_fits(kShape, ranks_of(32, 16, 3 * kMebibyte, 100 * kMebibyte)));
}

TEST(ExchangeLimit, blocks_of_small_inputs_take_what_they_hold) {
  EXPECT_FALSE(exchange_fits(kShape, ranks_of(32, 16, 32 * kMebibyte, 10 * kMebibyte)));
  EXPECT_TRUE(exchange_fits(kShape, ranks_of(32, 16, 32 * kMebibyte, 20 * kKiB)));
}

TEST(ExchangeLimit, ranks_that_keep_their_records_are_not_judged) {
  std::vector<ExchangingRank> ranks = ranks_of(32, 16, 32 * kMebibyte, 100 * kMebibyte);
  for (ExchangingRank& rank : ranks) rank.all_spill = false;
  EXPECT_TRUE(exchange_fits(kShape, ranks));
  EXPECT_FALSE(exchange_shortage(kShape, ranks));
}

TEST(ExchangeLimit, an_output_that_is_a_stream_is_merged_by_one_thread) {
  ExchangeShape shape = kShape;
  shape.to_stream = true;
  EXPECT_TRUE(exchange_fits(shape, ranks_of(32, 16, 32 * kMebibyte, 100 * kMebibyte)));
}

TEST(ExchangeLimit, names_the_rank_that_lacks_most) {
  std::vector<ExchangingRank> ranks = ranks_of(1'000, 16, 1000 * kMebibyte, 4000 * kMebibyte);
  ranks[5].memory_bytes = 32 * kMebibyte;
  // It lacks less, because it lies alone on its host and has more beside its memory.
  ranks[6].memory_bytes = 31 * kMebibyte;
  ranks[6].ranks_on_host = 1;
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
