// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/input/claim_table.h"

#include <numeric>

#include "sort/model/shares.h"
#include "tests/sort/inputs.h"

namespace hetsort::sort::test {
namespace {

struct Played {
  std::vector<std::vector<Claim>> claims;  // of each rank
  std::vector<double> end_seconds;

  std::uint64_t records(std::size_t rank) const {
    std::uint64_t sum = 0;
    for (const Claim& claim : claims[rank]) sum += claim.records;
    return sum;
  }
  std::uint64_t slices(std::size_t rank) const {
    std::uint64_t sum = 0;
    for (const Claim& claim : claims[rank]) sum += claim.fresh;
    return sum;
  }
};

using Records = std::vector<std::uint64_t>;
constexpr std::uint64_t kNoLimit = UINT64_MAX;

/// Ranks of these rates, in records a second, claim until nothing is left. `noise`: what a piece takes is off by up to
/// this part.
Played play(std::uint64_t records, const std::vector<double>& rates, const ClaimRules& rules,
            std::vector<std::uint64_t> capacities = {}, double noise = 0) {
  std::mt19937_64 random(test_seed());
  std::uniform_real_distribution<double> off(1 - noise, 1 + noise);
  capacities.resize(rates.size(), kNoLimit);
  ClaimTable table(equal_shares(records, capacities.size()).records, capacities, rules);
  Played played{std::vector<std::vector<Claim>>(rates.size()), std::vector<double>(rates.size(), 0)};
  std::vector<bool> asks(rates.size(), true);
  while (true) {
    std::size_t rank = rates.size();
    for (std::size_t each = 0; each < rates.size(); ++each)
      if (asks[each] && (rank == rates.size() || played.end_seconds[each] < played.end_seconds[rank])) rank = each;
    if (rank == rates.size()) return played;
    const Claim claim = table.next(rank, {0, played.records(rank)}, played.end_seconds[rank]);
    asks[rank] = claim.records > 0;
    if (claim.records == 0) continue;
    played.claims[rank].push_back(claim);
    played.end_seconds[rank] += static_cast<double>(claim.records) / rates[rank] * off(random);
  }
}

/// Every record is claimed once, and claims that are not fresh continue the one before.
void expect_exact_cover(const Played& played, std::uint64_t records) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
  for (const std::vector<Claim>& claims : played.claims) {
    std::uint64_t end = 0;
    for (const Claim& claim : claims) {
      EXPECT_TRUE(claim.fresh == 1 || claim.first == end);
      EXPECT_LE(claim.first + claim.records, claim.slice_end);
      end = claim.first + claim.records;
      all.emplace_back(claim.first, claim.records);
    }
  }
  std::sort(all.begin(), all.end());
  std::uint64_t next = 0;
  for (const auto& [first, count] : all) {
    ASSERT_EQ(first, next);
    next += count;
  }
  EXPECT_EQ(next, records);
}

TEST(ClaimTable, gives_equal_ranks_their_equal_slices) {
  const Played played = play(4'000'000, {1e6, 1e6, 1e6, 1e6}, {.smallest_records = 1000, .most_slices = 8});
  expect_exact_cover(played, 4'000'000);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(played.records(rank), 1'000'000U);
    EXPECT_EQ(played.slices(rank), 1U);
    EXPECT_EQ(played.claims[rank][0].records, 62'500U);
    EXPECT_LT(played.claims[rank].size(), 90U);
  }
}

TEST(ClaimTable, lets_unequal_ranks_end_together) {
  for (const std::vector<double>& rates :
       {std::vector<double>{1, 2}, {1, 8}, {3, 3, 2, 2}, {10, 1, 10, 10}, {1, 2, 4, 8, 16, 16, 8, 4}}) {
    const std::uint64_t records = 10'000'000;
    const Played played = play(records, rates, {.smallest_records = 1000, .most_slices = 8});
    expect_exact_cover(played, records);
    const double ideal = static_cast<double>(records) / std::accumulate(rates.begin(), rates.end(), 0.0);
    for (std::size_t rank = 0; rank < rates.size(); ++rank) {
      EXPECT_NEAR(played.end_seconds[rank] / ideal, 1, 0.08)
          << "rank " << rank << " of " << testing::PrintToString(rates);
      EXPECT_LE(played.slices(rank), 8U);
    }
  }
}

TEST(ClaimTable, claims_of_a_rank_that_never_comes_back_hold_up_nobody) {
  // It has claimed one piece and is slower than anything.
  const Played played = play(1'000'000, {1e6, 1e-3, 1e6}, {.smallest_records = 100, .most_slices = 8});
  expect_exact_cover(played, 1'000'000);
  EXPECT_LT(played.records(1), 1'000'000U / 3 / 10);
  EXPECT_LT(std::max(played.end_seconds[0], played.end_seconds[2]), 0.6);
}

TEST(ClaimTable, pieces_take_their_rank_long_enough_for_the_next_answer) {
  const std::vector<double> rates{4e6, 1e6, 2e6};
  const Played played = play(7'000'000, rates, {.smallest_records = 1, .most_slices = 8});
  expect_exact_cover(played, 7'000'000);
  for (std::size_t rank = 0; rank < rates.size(); ++rank) {
    std::size_t short_pieces = 0;
    for (const Claim& claim : played.claims[rank]) {
      const bool last_of_slice = claim.first + claim.records == claim.slice_end;
      if (!last_of_slice && static_cast<double>(claim.records) < 0.0099 * rates[rank]) ++short_pieces;
    }
    EXPECT_EQ(short_pieces, 0U) << "rank " << rank;
    EXPECT_NEAR(played.end_seconds[rank], 1, 0.03) << "rank " << rank;
  }
}

TEST(ClaimTable, the_rate_of_the_first_moments_makes_no_large_pieces) {
  ClaimTable table(Records{1'000'000, 1'000'000}, Records{kNoLimit, kNoLimit},
                   {.smallest_records = 100, .most_slices = 8});
  EXPECT_EQ(table.next(0, {0, 0}, 0).records, 62'500U);
  // A hundred records in a microsecond.
  EXPECT_LE(table.next(0, {0, 100}, 1e-6).records, 62'500U);
  // Who has done its own slice before takes what is left of the other.
  table.next(1, {0, 0}, 0);
  table.next(1, {1'000'000, 62'500}, 0.01);
  const Claim stolen = table.next(1, {0, 1'000'000}, 0.02);
  EXPECT_EQ(stolen.fresh, 1U);
  EXPECT_GT(stolen.slice_end - stolen.first, 400'000U);
}

TEST(ClaimTable, the_end_is_not_cut_into_ever_smaller_slices) {
  const std::vector<double> rates{4e6, 1e6, 2e6, 3e6};
  const std::uint64_t records = 400'000'000;
  const Played played = play(records, rates, {.smallest_records = 1, .most_slices = 100}, {}, 0.5);
  SCOPED_TRACE(seed_note());
  expect_exact_cover(played, records);
  for (std::size_t rank = 0; rank < rates.size(); ++rank) {
    EXPECT_LE(played.slices(rank), 5U) << "rank " << rank;
    EXPECT_NEAR(played.end_seconds[rank], 40, 0.1 * 40) << "rank " << rank;
  }
}

TEST(ClaimTable, late_answers_make_longer_pieces_and_leave_a_part_to_others) {
  const auto pieces = [](double late_seconds) {
    ClaimTable table(Records{1'000'000, 1'000'000}, Records{kNoLimit, kNoLimit},
                     {.smallest_records = 100, .most_slices = 1});
    int count = 0;
    std::uint64_t done = 0;
    while (true) {
      const Claim claim = table.next(0, {0, done, late_seconds}, static_cast<double>(done) / 1e6);
      if (claim.records == 0) return count;
      ++count;
      const std::uint64_t left = claim.slice_end - claim.first;
      EXPECT_LE(claim.records, std::max<std::uint64_t>(left / 4, 20'000)) << left;
      done += claim.records;
    }
  };
  EXPECT_GT(pieces(0), 2 * pieces(0.05));
}

TEST(ClaimTable, keeps_capacities) {
  const Played played =
      play(900'000, {100, 1, 1}, {.smallest_records = 10, .most_slices = 8}, {350'000, kNoLimit, 300'000});
  expect_exact_cover(played, 900'000);
  EXPECT_LE(played.records(0), 350'000U);
  EXPECT_LE(played.records(2), 300'000U);
}

TEST(ClaimTable, covers_the_input_once_whatever_the_ranks_do) {
  std::mt19937_64 random(test_seed());
  SCOPED_TRACE(seed_note());
  for (int round = 0; round < 400; ++round) {
    const std::size_t ranks = 1 + random() % 8;
    const std::uint64_t records = random() % (round % 2 == 0 ? 40 : 100'000);
    const ClaimRules rules{.smallest_records = 1 + random() % 50, .most_slices = 1 + random() % 6};
    std::vector<std::uint64_t> capacities(ranks, kNoLimit);
    for (std::uint64_t& capacity : capacities)
      if (random() % 2 == 0) capacity = records / ranks + 1 + random() % 1000;
    ClaimTable table(equal_shares(records, capacities.size()).records, capacities, rules);
    Played played{std::vector<std::vector<Claim>>(ranks), {}};
    std::vector<std::size_t> asking(ranks);
    std::iota(asking.begin(), asking.end(), std::size_t{0});
    for (double seconds = 0; !asking.empty(); seconds += static_cast<double>(random() % 3)) {
      const std::size_t at = random() % asking.size();
      const std::size_t rank = asking[at];
      const Claim claim =
          table.next(rank, {random() % 30, random() % 100'000, static_cast<double>(random() % 3)}, seconds);
      if (claim.records == 0)
        asking.erase(asking.begin() + static_cast<std::ptrdiff_t>(at));
      else
        played.claims[rank].push_back(claim);
    }
    expect_exact_cover(played, records);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      EXPECT_LE(played.records(rank), capacities[rank]);
      EXPECT_LE(played.slices(rank), rules.most_slices);
    }
  }
}

TEST(ClaimTable, a_request_with_impossible_times_gets_a_claim_inside_the_input) {
  for (const double late :
       {std::numeric_limits<double>::quiet_NaN(), -1e300, 1e300, std::numeric_limits<double>::infinity()}) {
    ClaimTable table(Records{500, 500}, Records{kNoLimit, kNoLimit}, {.smallest_records = 10, .most_slices = 3});
    std::uint64_t claimed = 0;
    for (double seconds = 0; seconds < 100; ++seconds) {
      const Claim claim = table.next(0, {0, UINT64_MAX, late}, seconds);
      EXPECT_LE(claim.first + claim.records, 1000U);
      claimed += claim.records;
    }
    EXPECT_LE(claimed, 1000U);
  }
}

TEST(ClaimTable, gives_a_rank_no_more_than_its_slice_where_a_plan_says_so) {
  constexpr std::uint64_t kOwn = 100'000;
  ClaimTable table(Records{0, kOwn, 900'000}, Records{0, kOwn, kNoLimit}, {.smallest_records = 1000, .most_slices = 8});
  EXPECT_EQ(table.next(0, {}, 0.001).records, 0U);
  Records claimed(3, 0);
  for (double seconds = 0.01; claimed[1] < kOwn; seconds += 0.01) {
    const Claim claim = table.next(1, {0, claimed[1]}, seconds);
    ASSERT_GT(claim.records, 0U);
    claimed[1] += claim.records;
  }
  EXPECT_EQ(table.next(1, {0, claimed[1]}, 5).records, 0U);
  for (Claim claim = table.next(2, {}, 0.01); claim.records > 0; claim = table.next(2, {0, claimed[2]}, 10))
    claimed[2] += claim.records;
  EXPECT_EQ(claimed, (Records{0, kOwn, 900'000}));
}

}  // namespace
}  // namespace hetsort::sort::test
