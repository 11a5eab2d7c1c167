// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/model/shares.h"

#include <limits>

#include "sort/model/measured_shares.h"
#include "tests/sort/ranks.h"
#include "tests/sort/support.h"

namespace hetsort::sort::test {
namespace {

/// The outcome of two ranks that use rank 0's `shares` of 10 records.
std::string outcome_of(const Shares& shares) {
  std::string conclusion;
  const auto body = [&](comm::Communicator& ranks) {
    const Shares agreed = plan_on_root([&](const RecordsToShare&) { return shares; }, {10}, ranks);
    EXPECT_EQ(agreed.records, shares.records);
    EXPECT_EQ(agreed.input, shares.input);
    EXPECT_EQ(agreed.order, shares.order);
    EXPECT_EQ(agreed.strategy, shares.strategy);
  };
  for (const machinery::RankEnd& end : machinery::try_ranks(2, test_seed(), {}, body)) conclusion = end.conclusion;
  return conclusion;
}

/// A prediction of two ranks whose second one has this exchange.
partition::RunPrediction prediction_with(const partition::PhaseTime& exchange) {
  const partition::PhaseTime second{1, partition::Resource::kProcessor};
  return {
      .seconds = 3, .form_seconds = 1, .exchange_seconds = 2, .form = {second, second}, .exchange = {second, exchange}};
}

TEST(SharesOfRank0, come_with_the_prediction_of_the_run) {
  const Shares shares{.records = {4, 6}, .run = prediction_with({2, partition::Resource::kLinkIn})};
  machinery::run_ranks(2, test_seed(), {}, [&](comm::Communicator& ranks) {
    const Shares agreed = plan_on_root([&](const RecordsToShare&) { return shares; }, {10}, ranks);
    ASSERT_TRUE(agreed.run);
    EXPECT_EQ(agreed.run->seconds, 3);
    EXPECT_EQ(agreed.run->form[0].bound, partition::Resource::kProcessor);
    EXPECT_EQ(agreed.run->exchange[1].seconds, 2);
    EXPECT_EQ(agreed.run->exchange[1].bound, partition::Resource::kLinkIn);
  });
}

TEST(SharesOfRank0, that_fit_records_and_ranks_are_used) {
  EXPECT_EQ(outcome_of({.records = {4, 6}}), "");
  EXPECT_EQ(outcome_of({.records = {4, 6}, .input = {10, 0}}), "");
  EXPECT_EQ(outcome_of({.records = {0, 10}, .strategy = "lambert", .order = {1, 0}, .parts = {1, 3}}), "");
}

TEST(SharesOfRank0, that_fit_neither_records_nor_ranks_are_refused) {
  constexpr std::uint64_t kWraps = std::numeric_limits<std::uint64_t>::max() - 1;
  for (const Shares& wrong : std::vector<Shares>{
           {.records = {4, 5}},
           {.records = {10}},
           {.records = {4, 6, 0}},
           {.records = {12, kWraps}},
           {.records = {4, 6}, .predicted_seconds = std::numeric_limits<double>::quiet_NaN()},
           {.records = {4, 6}, .order = {0, 0}},
           {.records = {4, 6}, .order = {0, 7}},
           {.records = {4, 6}, .order = {-1, 0}},
           {.records = {4, 6}, .input = {4, 5}},
           {.records = {4, 6}, .input = {10}},
           {.records = {4, 6}, .run = partition::RunPrediction{}},
           {.records = {4, 6}, .run = prediction_with({1, static_cast<partition::Resource>(-1)})},
           {.records = {4, 6}, .run = prediction_with({1, static_cast<partition::Resource>(8)})},
           {.records = {4, 6}, .parts = {1}},
           {.records = {4, 6}, .parts = {1, 0}},
       })
    EXPECT_NE(outcome_of(wrong).find("do not fit"), std::string::npos);
}

TEST(WorkOfRanks, with_impossible_seconds_is_refused) {
  for (const double seconds :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -1.0}) {
    for (const machinery::RankEnd& end : machinery::try_ranks(2, test_seed(), {}, [&](comm::Communicator& ranks) {
           static_cast<void>(gather_work({5, ranks.rank() == 1 ? seconds : 1.0}, ranks));
         }))
      EXPECT_NE(end.conclusion.find("impossible seconds"), std::string::npos);
  }
}

}  // namespace
}  // namespace hetsort::sort::test
