// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/select/selection_size.h"

#include <gtest/gtest.h>

#include <vector>

#include "sort/select/quantile_summary.h"

namespace hetsort::sort::test {
namespace {

constexpr std::uint64_t kMostBytes = 2'000'000;

/// All rounds of the search for the borders of `ranks` ranks.
std::vector<SelectionSizes> rounds_of(std::uint64_t ranks, std::size_t key_bytes) {
  return {exact_round({ranks, 1, ranks, key_bytes}), exact_round({ranks, ranks, ranks, key_bytes}),
          exact_round({ranks, ranks, ranks, key_bytes, true})};
}

TEST(SelectionSizes, no_message_of_many_ranks_exceeds_2_MB) {
  for (const std::uint64_t ranks : {1'000U, 10'000U, 100'000U})
    for (const std::size_t key_bytes : {std::size_t{1}, std::size_t{10}, std::size_t{4096}, kAnyKeyBytes})
      for (const SelectionSizes& sizes : rounds_of(ranks, key_bytes)) {
        EXPECT_LE(sizes.message_bytes, kMostBytes) << ranks << " ranks, keys of " << key_bytes;
        EXPECT_GE(sizes.marks, 64U);
      }
}

TEST(SelectionSizes, all_messages_of_a_round_together_grow_with_ranks) {
  const auto bytes = [](const SelectionSizes& sizes) { return sizes.messages * sizes.message_bytes; };
  const SelectionSizes thousand = exact_round({1'000, 1'000, 1'000, 10});
  EXPECT_LE(bytes(thousand), 4 * kMostBytes);
  EXPECT_LE(bytes(exact_round({10'000, 10'000, 10'000, 10})), 11 * bytes(thousand));
}

TEST(DivisionSizes, what_a_rank_handles_grows_with_ranks_or_with_its_own_threads) {
  for (const std::uint64_t ranks : {1'000U, 10'000U, 100'000U}) {
    const DivisionSizes sizes = division_sizes({ranks, 1, 16, 10});
    EXPECT_LE(ranks * sizes.summary_bytes, ranks * 512);
    EXPECT_LE(sizes.border_bytes, 16U * 64);
    EXPECT_LE(sizes.marks, 512U);
    EXPECT_GE(ranks * sizes.own_marks, 16U * 16);
    EXPECT_EQ(division_sizes({ranks, 1, 256, 10}).summary_bytes, sizes.summary_bytes);
  }
  for (const std::size_t key_bytes : {std::size_t{4096}, kAnyKeyBytes})
    EXPECT_LE(division_sizes({1'000, 1, 16, key_bytes}).summary_bytes, kMostBytes);
}

TEST(SelectionSizes, each_search_is_in_one_message) {
  for (const std::uint64_t ranks : {1U, 2U, 7U, 128U, 1'000U, 10'000U})
    for (const SelectionSizes& sizes : rounds_of(ranks, 100)) {
      EXPECT_GE(sizes.searches_a_message, 1U);
      EXPECT_GE(sizes.own_marks, 4U);
      EXPECT_LE(sizes.own_marks, sizes.marks);
    }
  const SelectionSizes sizes = exact_round({10'000, 10'000, 10'000, 10});
  EXPECT_LT(sizes.searches_a_message * (sizes.messages - 1), 10'000U);
  EXPECT_GE(sizes.searches_a_message * sizes.messages, 10'000U);
}

}  // namespace
}  // namespace hetsort::sort::test
