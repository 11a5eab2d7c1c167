// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/calibrate/node_rates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "comm/in_process.h"
#include "tests/sort/inputs.h"

namespace hetsort::sort::test {
namespace {

TimedSort sort_of(double whole_seconds, double forming_seconds) { return {{whole_seconds}, forming_seconds}; }

NodeRate rate_of(std::uint64_t records, const std::vector<TimedSort>& sorts, RateBy by) {
  return node_rate(std::vector<SortsOfSize>{{records, sorts}}, by);
}

TEST(NodeRates, merging_counts_only_beyond_three_times_forming) {
  // The first sort makes ready and does not count.
  const auto rate = [](double whole, double forming, RateBy by = RateBy::kAllPhases) {
    const std::vector<TimedSort> sorts{sort_of(9, 9), sort_of(whole, forming), sort_of(whole, forming)};
    return rate_of(1000, sorts, by);
  };
  EXPECT_DOUBLE_EQ(rate(2, 1).records_per_second, 250);
  EXPECT_DOUBLE_EQ(rate(4, 1).records_per_second, 250);
  EXPECT_DOUBLE_EQ(rate(5, 1).records_per_second, 200);
  EXPECT_DOUBLE_EQ(rate(1, 1.5).records_per_second, 250);  // no more than the whole
  EXPECT_DOUBLE_EQ(rate(5, 0).records_per_second, 200);
  EXPECT_EQ(rate(5, 1).half_width, 0);
  EXPECT_DOUBLE_EQ(rate(5, 1, RateBy::kForming).records_per_second, 250);
  EXPECT_DOUBLE_EQ(rate(1, 1.5, RateBy::kForming).records_per_second, 250);
}

TEST(NodeRates, what_a_host_kept_does_not_count) {
  std::vector<TimedSort> sorts(8, sort_of(2, 1));
  for (std::size_t i = 3; i < 8; ++i) sorts[i] = {.whole = {2.8, 0.8}, .forming_seconds = 1.4};
  EXPECT_DOUBLE_EQ(rate_of(1000, sorts, RateBy::kAllPhases).records_per_second, 250);
}

TEST(NodeRates, a_single_sort_and_sorts_of_no_time_have_a_rate) {
  const NodeRate once = rate_of(1000, std::vector<TimedSort>{sort_of(4, 1)}, RateBy::kAllPhases);
  EXPECT_DOUBLE_EQ(once.records_per_second, 250);
  EXPECT_EQ(once.half_width, 1);
  for (const RateBy by : {RateBy::kAllPhases, RateBy::kForming})
    EXPECT_GT(rate_of(0, std::vector<TimedSort>(3, sort_of(0, 0)), by).records_per_second, 0);
}

TEST(NodeRates, sizes_count_by_the_time_they_took) {
  const std::vector<SortsOfSize> sizes{{100, std::vector<TimedSort>(6, sort_of(9, 1))},
                                       {400, std::vector<TimedSort>(3, sort_of(9, 5))}};
  const NodeRate rate = node_rate(sizes, RateBy::kForming);
  EXPECT_DOUBLE_EQ(rate.records_per_second, (6 * 100 + 3 * 400) / (6 * 4.0 + 3 * 20));
  EXPECT_EQ(rate.half_width, 0);
  // A size with a single sort has no interval. That sort takes a fifth of the time.
  const std::vector<SortsOfSize> doubtful{{400, {sort_of(9, 4)}}, {400, std::vector<TimedSort>(4, sort_of(9, 4))}};
  EXPECT_DOUBLE_EQ(node_rate(doubtful, RateBy::kForming).half_width, 0.2);
}

TEST(NodeRates, nodes_that_chance_may_explain_are_alike) {
  const std::vector<NodeRate> nodes{{310, 0.06}, {198, 0.02}, {290, 0.03}, {202, 0.02}};
  EXPECT_EQ(rates_beyond_chance(nodes), (std::vector<double>{300, 200, 300, 200}));
}

TEST(NodeRates, nodes_that_are_sure_keep_their_rates) {
  const std::vector<NodeRate> nodes{{310, 0.01}, {198, 0.005}, {290, 0.01}, {202, 0.005}};
  EXPECT_EQ(rates_beyond_chance(nodes), (std::vector<double>{310, 198, 290, 202}));
}

TEST(NodeRates, however_much_sorts_vary_unlike_nodes_stay_unlike) {
  const std::vector<NodeRate> nodes{{300, 1}, {200, 1}, {100, 0.7}};
  EXPECT_EQ(rates_beyond_chance(nodes), (std::vector<double>{300, 200, 100}));
  EXPECT_EQ(rates_beyond_chance(std::vector<NodeRate>{{105, 1}, {95, 1}}), (std::vector<double>{100, 100}));
}

TEST(NodeRates, a_row_of_nodes_each_near_the_next_is_not_one_kind) {
  std::vector<NodeRate> nodes;
  for (int i = 0; i < 20; ++i) nodes.push_back({100.0 + 10 * i, 0.06});
  const std::vector<double> rates = rates_beyond_chance(nodes);
  EXPECT_TRUE(std::is_sorted(rates.begin(), rates.end()));
  for (std::size_t i = 0; i < nodes.size(); ++i) EXPECT_NEAR(rates[i] / nodes[i].records_per_second, 1, 0.15) << i;
  EXPECT_GT(rates.back(), 2 * rates.front());
}

TEST(NodeRates, alike_nodes_plan_alike_whatever_the_noise) {
  SCOPED_TRACE(test::seed_note());
  std::mt19937_64 random(test::test_seed());
  int unlike = 0;
  constexpr int kTimes = 200;
  for (int time = 0; time < kTimes; ++time) {
    std::vector<NodeRate> nodes;
    for (const double rate : {300.0, 300.0, 200.0, 200.0}) {
      std::vector<TimedSort> sorts;
      for (int i = 0; i < 9; ++i) {
        const double forming = 100 / rate * std::uniform_real_distribution<double>(0.85, 1.15)(random);
        sorts.push_back(sort_of(2 * forming, forming));
      }
      nodes.push_back(rate_of(100, sorts, RateBy::kAllPhases));
    }
    const std::vector<double> rates = rates_beyond_chance(nodes);
    unlike += rates[0] == rates[1] && rates[2] == rates[3] ? 0 : 1;
    EXPECT_GT(rates[0], 1.2 * rates[2]) << time;
  }
  EXPECT_LE(unlike, kTimes / 4);
}

TEST(NodeRates, all_ranks_know_all_rates) {
  comm::run_ranks(3, test::test_seed(), {}, [](comm::Communicator& ranks) {
    const std::vector<NodeRate> all = gather_rates({100.5 + ranks.rank(), 0.25 * ranks.rank()}, ranks);
    ASSERT_EQ(all.size(), 3U);
    for (std::size_t rank = 0; rank < 3; ++rank) {
      EXPECT_EQ(all[rank].records_per_second, 100.5 + static_cast<double>(rank));
      EXPECT_EQ(all[rank].half_width, 0.25 * static_cast<double>(rank));
    }
  });
}

}  // namespace
}  // namespace hetsort::sort::test
