// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Input and output shares of a short run, against all pairs of divisions on a grid.
#include "partition/run/best_shares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "partition/error.h"
#include "partition/run/best_output.h"
#include "partition/run/predict_run.h"
#include "tests/partition/problems.h"
#include "tests/partition/run/run_models.h"
#include "tests/seeds.h"

namespace hetsort::partition::test {
namespace {

using Shares = std::vector<std::int64_t>;

constexpr std::int64_t kUnit = 1000;  // records

double shortest_on_grid(const RunModel& model, std::int64_t records) {
  std::vector<Shares> divisions;
  for_each_division(model.ranks.size(), records, kUnit, [&](const Shares& shares) {
    if (within_caps(model, shares)) divisions.push_back(shares);
  });
  double best = std::numeric_limits<double>::infinity();
  for (const Shares& input : divisions)
    for (const Shares& output : divisions) best = std::min(best, predict_run(model, input, output).seconds);
  return best;
}

/// Memory and caps of the random models, in units of the grid.
RunModel model_on_grid(std::mt19937_64& random, const RandomModel& form) {
  RunModel model = random_model(random, form);
  for (RankResources& rank : model.ranks) {
    if (rank.memory_records) *rank.memory_records *= kUnit;
    if (rank.max_records) *rank.max_records *= kUnit;
  }
  return model;
}

/// Ratios of the planned run to the shortest on the grid, in ascending order.
std::vector<double> ratios_to_grid(std::uint64_t seed, const RandomModel& form, int rounds) {
  Seeded random(seed);
  std::vector<double> ratios;
  for (int round = 0; round < rounds; ++round) {
    const RunModel model = model_on_grid(random.engine, form);
    const std::int64_t records = kUnit * (model.ranks.size() > 3 ? 5 : 9);
    const double best = shortest_on_grid(model, records);
    if (best == std::numeric_limits<double>::infinity()) continue;
    const PhaseShares shares = best_shares(model, records);
    EXPECT_EQ(sum_of(shares.input), records) << random.note << " round " << round;
    EXPECT_EQ(sum_of(shares.output), records) << random.note << " round " << round;
    EXPECT_TRUE(within_caps(model, shares.input) && within_caps(model, shares.output)) << random.note;
    EXPECT_EQ(shares.output, best_output(model, shares.input)) << random.note << " round " << round;
    ratios.push_back(predict_run(model, shares.input, shares.output).seconds / best);
    if (ratios.back() > 1.001) std::printf("%s round %d: %.4f\n", random.note.c_str(), round, ratios.back());
  }
  std::sort(ratios.begin(), ratios.end());
  EXPECT_GT(ratios.size(), static_cast<std::size_t>(rounds) / 2);
  return ratios;
}

/// A grid takes milliseconds. HETSORT_TEST_CASES sets the number of random problems.
const int kRounds =
    static_cast<int>(hetsort::test::environment_number("HETSORT_TEST_CASES", hetsort::test::kSanitized ? 20 : 100));

// The times have several local optima. The search misses the best one in fewer than 1 of 200 problems.
TEST(BestShares, hardly_a_pair_of_divisions_on_a_grid_is_better_for_hosts_of_one_rank) {
  const std::vector<double> ratios = ratios_to_grid(test_seed(), {}, kRounds);
  EXPECT_LE(ratios[ratios.size() * 96 / 100], 1.001);
  EXPECT_LE(ratios.back(), 1.25);
}

// Here it misses the best one in fewer than 1 of 100 problems.
TEST(BestShares, hardly_a_pair_of_divisions_on_a_grid_is_better_for_hosts_of_several_ranks) {
  const std::vector<double> ratios = ratios_to_grid(test_seed() + 1, {.max_hosts = 2, .max_ranks_of_host = 2}, kRounds);
  EXPECT_LE(ratios[ratios.size() * 94 / 100], 1.001);
  EXPECT_LE(ratios.back(), 1.5);
}

TEST(BestShares, hardly_a_pair_of_divisions_on_a_grid_is_better_with_input_in_page_caches) {
  const std::vector<double> ratios = ratios_to_grid(test_seed() + 3, {.cached = true, .shared = true}, kRounds);
  EXPECT_LE(ratios[ratios.size() * 94 / 100], 1.001);
  EXPECT_LE(ratios.back(), 1.5);
}

TEST(BestShares, a_rank_with_the_input_in_its_page_cache_reads_more) {
  RunModel model = processors_only({1e6, 1e6});
  for (RankResources& rank : model.ranks) rank.rates.disk_read = 25e6;
  model.ranks[1].input_cached = 1;
  // A disk reads a quarter of the records a second that a processor forms.
  const PhaseShares own_disks = best_shares(model, 1'000'000);
  EXPECT_NEAR(static_cast<double>(own_disks.input[1]), 800'000, 10);
  EXPECT_NEAR(static_cast<double>(own_disks.output[1]), 500'000, 10);
  for (RankResources& rank : model.ranks) rank.rates.disk_read.reset();
  model.shared.disk_read = 25e6;
  const PhaseShares one_disk = best_shares(model, 1'000'000);
  EXPECT_NEAR(static_cast<double>(one_disk.input[1]), 800'000, 10'000);
}

TEST(BestShares, are_proportional_to_the_rates_of_processors) {
  const PhaseShares shares = best_shares(processors_only({1, 2, 4}), 700);
  EXPECT_EQ(shares.input, (Shares{100, 200, 400}));
  EXPECT_EQ(shares.output, (Shares{100, 200, 400}));
}

TEST(BestShares, a_host_with_a_slow_link_reads_less_than_it_could_sort) {
  RunModel model = processors_only({1e6, 1e6, 1e6, 1e6});
  for (RankResources& rank : model.ranks) rank.rates.link_in = rank.rates.link_out = 100e6;
  model.ranks[3].rates.link_in = model.ranks[3].rates.link_out = 20e6;
  const PhaseShares shares = best_shares(model, 4'000'000);
  EXPECT_LT(shares.input[3], 700'000);
  EXPECT_LT(shares.output[3], 700'000);
}

TEST(BestShares, many_nodes_are_near_what_the_slowest_resource_of_each_allows) {
  Seeded random(test_seed() + 2);
  const auto some = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random.engine);
  };
  RunModel model = processors_only(std::vector<double>(1000, 1e6));
  for (RankResources& rank : model.ranks) {
    rank.sort = linear_cost(some(0.5e-6, 2e-6));
    rank.rates.link_in = rank.rates.link_out = some(20e6, 200e6);
  }
  const std::int64_t records = 1'000'000'000;
  const PhaseShares shares = best_shares(model, records);
  const double planned = predict_run(model, shares.input, shares.output).seconds;
  // The best of many pairs of bounds on both phases, without the part that a host keeps.
  double best = std::numeric_limits<double>::infinity();
  for (double form = 0.8; form < 3; form += 0.01) {
    const auto input_at = [&](double exchange) {
      double sum = 0;
      for (const RankResources& rank : model.ranks)
        sum += std::min(form / rank.sort->value(1), exchange * *rank.rates.link_out / 100);
      return sum;
    };
    for (double exchange = 0.5; exchange < 6 && form + exchange < best; exchange += 0.01) {
      double output = 0;
      for (const RankResources& rank : model.ranks) output += exchange * std::min(1e6, *rank.rates.link_in / 100);
      if (std::min(output, input_at(exchange)) >= static_cast<double>(records)) best = form + exchange;
    }
  }
  EXPECT_LE(planned, 1.005 * best) << random.note;
}

TEST(BestShares, are_the_same_in_every_run) {
  RunModel model = processors_only({1, 2, 4});
  for (RankResources& rank : model.ranks) rank.rates.link_out = 100;
  EXPECT_EQ(best_shares(model, 1'000'000).input, best_shares(model, 1'000'000).input);
}

TEST(BestShares, no_records_and_no_room) {
  RunModel model = processors_only({1, 2});
  EXPECT_EQ(best_shares(model, 0).output, (Shares{0, 0}));
  for (RankResources& rank : model.ranks) rank.max_records = 5;
  EXPECT_THROW(best_shares(model, 11), PlanError);
}

}  // namespace
}  // namespace hetsort::partition::test
