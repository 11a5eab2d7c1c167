// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The output shares of the shortest exchange, against every other division of the records.
#include "partition/run/best_output.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "partition/error.h"
#include "partition/run/predict_run.h"
#include "tests/partition/problems.h"
#include "tests/partition/run/run_models.h"

namespace hetsort::partition::test {
namespace {

using Shares = std::vector<std::int64_t>;

double exchange_seconds(const RunModel& model, const Shares& input, const Shares& output) {
  return predict_run(model, input, output).exchange_seconds;
}

double shortest_exchange(const RunModel& model, const Shares& input, std::int64_t records) {
  double best = std::numeric_limits<double>::infinity();
  for_each_division(input.size(), records, 1, [&](const Shares& output) {
    if (within_caps(model, output)) best = std::min(best, exchange_seconds(model, input, output));
  });
  return best;
}

void compare_with_every_division(std::uint64_t seed, const RandomModel& form, int rounds) {
  Seeded random(seed);
  int planned = 0;
  for (int round = 0; round < rounds; ++round) {
    const RunModel model = random_model(random.engine, form);
    const std::size_t ranks = model.ranks.size();
    const auto records = static_cast<std::int64_t>(random.engine() % (ranks > 4 ? 7 : 13));
    const Shares input = random_division(random.engine, ranks, records);
    const double best = shortest_exchange(model, input, records);
    const std::string place = random.note + " round " + std::to_string(round);
    if (best == std::numeric_limits<double>::infinity()) {
      EXPECT_THROW(best_output(model, input), PlanError) << place;
      continue;
    }
    ++planned;
    const Shares output = best_output(model, input);
    ASSERT_EQ(sum_of(output), records) << place;
    ASSERT_GE(*std::min_element(output.begin(), output.end()), 0) << place;
    ASSERT_TRUE(within_caps(model, output)) << place;
    ASSERT_NEAR(exchange_seconds(model, input, output), best, 1e-12 * best) << place;
  }
  EXPECT_GT(planned, rounds / 2);
}

TEST(BestOutput, no_division_is_better_for_hosts_of_one_rank) { compare_with_every_division(test_seed(), {}, 1000); }

TEST(BestOutput, no_division_is_better_for_hosts_of_several_ranks) {
  compare_with_every_division(test_seed() + 1, {.max_hosts = 3, .max_ranks_of_host = 2}, 1000);
}

TEST(BestOutput, no_division_is_better_with_a_link_that_all_share) {
  compare_with_every_division(test_seed() + 2, {.max_hosts = 3, .max_ranks_of_host = 2, .shared = true}, 1000);
}

TEST(BestOutput, no_record_that_moves_makes_a_large_exchange_shorter) {
  Seeded random(test_seed() + 3);
  for (int round = 0; round < 200; ++round) {
    const RunModel model = random_model(random.engine, {.max_hosts = 40, .max_ranks_of_host = 2});
    const std::size_t ranks = model.ranks.size();
    if (model.ranks.front().max_records) continue;
    const auto records = static_cast<std::int64_t>(random.engine() % 1'000'000'000);
    const Shares input = random_division(random.engine, ranks, records);
    Shares output = best_output(model, input);
    ASSERT_EQ(sum_of(output), records) << random.note << " round " << round;
    const double best = exchange_seconds(model, input, output);
    for (int move = 0; move < 50; ++move) {
      const std::size_t from = random.engine() % ranks;
      const std::size_t to = random.engine() % ranks;
      const std::int64_t moved = std::min<std::int64_t>(output[from], std::int64_t{1} << (random.engine() % 28));
      output[from] -= moved;
      output[to] += moved;
      ASSERT_GE(exchange_seconds(model, input, output), best * (1 - 1e-12)) << random.note << " round " << round;
      output[to] -= moved;
      output[from] += moved;
    }
  }
}

TEST(BestOutput, is_proportional_to_the_rates_of_processors) {
  EXPECT_EQ(best_output(processors_only({1, 2, 4}), Shares{700, 0, 0}), (Shares{100, 200, 400}));
  EXPECT_EQ(best_output(processors_only({1, 1, 1}), Shares{2, 2, 1}), (Shares{2, 2, 1}));
}

TEST(BestOutput, a_host_with_a_slow_link_keeps_what_it_has) {
  RunModel model = processors_only({1e6, 1e6});
  for (RankResources& rank : model.ranks) rank.rates.link_in = rank.rates.link_out = 1e9;
  model.ranks[0].rates.link_out = 10e6;
  const Shares output = best_output(model, Shares{1'000'000, 1'000'000});
  EXPECT_GT(output[0], 1'500'000);
}

TEST(BestOutput, balances_the_ranks_that_do_not_decide) {
  RunModel model = processors_only({1, 1, 1});
  for (RankResources& rank : model.ranks) rank.rates.link_out = 1e9;
  model.ranks[0].rates.link_out = 0.1;  // it sends for a long time, whatever it gets
  const Shares output = best_output(model, Shares{90, 0, 0});
  EXPECT_EQ(output[0], 90);
  const Shares others = best_output(processors_only({1e-9, 1, 1}), Shares{1, 50, 50});
  EXPECT_EQ(others, (Shares{0, 51, 50}));
}

TEST(BestOutput, says_how_many_records_find_no_room) {
  RunModel model = processors_only({1, 1});
  for (RankResources& rank : model.ranks) rank.max_records = 40;
  try {
    best_output(model, Shares{40, 60});
    FAIL();
  } catch (const PlanError& error) {
    EXPECT_EQ(std::string(error.what()), "the nodes can hold 80 records together, 20 fewer than the 100 to be shared");
  }
}

TEST(BestOutput, takes_the_largest_number_of_records_and_extreme_rates) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  RunModel model = processors_only({1e-250, 1, 1e250});
  EXPECT_EQ(sum_of(best_output(model, Shares{most, 0, 0})), most);
  for (RankResources& rank : model.ranks) rank.rates.link_in = rank.rates.link_out = 1e-250;
  EXPECT_EQ(sum_of(best_output(model, Shares{most / 2, most / 4, 5})), most / 2 + most / 4 + 5);
  EXPECT_EQ(best_output(model, Shares{0, 0, 0}), (Shares{0, 0, 0}));
}

}  // namespace
}  // namespace hetsort::partition::test
