// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/plan/measured_shares.h"

#include <numeric>

#include "tests/sort/inputs.h"

namespace hetsort::sort::test {
namespace {

using Records = std::vector<std::uint64_t>;

TEST(MeasuredShares, are_in_proportion_to_records_a_second) {
  EXPECT_EQ(shares_by_rates(1000, std::vector<Work>{{100, 1}, {100, 2}, {400, 4}}).records, (Records{400, 200, 400}));
  EXPECT_EQ(shares_by_rates(10, std::vector<Work>{{1'000'000, 0.5}}).records, (Records{10}));
}

TEST(MeasuredShares, take_who_worked_too_little_as_the_mean_of_the_others) {
  const std::vector<Work> work{{100, 1}, {0, 0}, {300, 1}, {1, 0.001}, {0, 7}};
  EXPECT_EQ(shares_by_rates(1000, work).records, (Records{100, 200, 300, 200, 200}));
}

TEST(MeasuredShares, take_who_did_more_in_less_time_than_can_be_measured_as_faster) {
  EXPECT_EQ(shares_by_rates(1000, std::vector<Work>{{100, 1}, {3, 0.005}}).records, (Records{250, 750}));
  EXPECT_EQ(shares_by_rates(1700, std::vector<Work>{{1000, 10}, {1000, 0.005}}).records, (Records{100, 1600}));
}

TEST(MeasuredShares, are_equal_when_nobody_worked_long_enough) {
  EXPECT_EQ(shares_by_rates(8, std::vector<Work>(3, {0, 0})).records, (Records{3, 3, 2}));
  EXPECT_EQ(shares_by_rates(8, std::vector<Work>{{1000, 0.009}, {10, 0.009}}).records, (Records{4, 4}));
}

TEST(MeasuredShares, believe_no_rate_that_is_far_from_all_others) {
  EXPECT_EQ(shares_by_rates(1800, std::vector<Work>{{10, 1}, {10, 1}, {1'000'000, 1}}).records,
            (Records{100, 100, 1600}));
  EXPECT_EQ(shares_by_rates(3300, std::vector<Work>{{1600, 1}, {1600, 1}, {1, 1000}}).records,
            (Records{1600, 1600, 100}));
}

TEST(SecondsOfWork, are_those_of_the_clock_where_no_quota_stops_the_rank) {
  EXPECT_EQ(seconds_of_work({3, 1}, std::nullopt, 1), 3);
  // Two processors for two threads; and a rank that waited for its disk.
  EXPECT_EQ(seconds_of_work({3, 2.9}, ProcessorQuota{2, 0.1}, 2), 3);
  EXPECT_EQ(seconds_of_work({3, 1.2}, ProcessorQuota{0.5, 0.1}, 1), 3);
}

TEST(SecondsOfWork, are_those_of_the_processor_where_a_quota_stops_the_rank) {
  // However many periods have begun meanwhile: the first and the last may have been its own or not.
  for (const double seconds : {0.95, 1.0, 1.1})
    EXPECT_DOUBLE_EQ(seconds_of_work({seconds, 0.5}, ProcessorQuota{0.5, 0.1}, 1), 1) << seconds;
  // Within one period nothing stops it yet.
  EXPECT_DOUBLE_EQ(seconds_of_work({0.04, 0.04}, ProcessorQuota{0.5, 0.1}, 1), 0.08);
}

TEST(MeasuredShares, sum_to_the_records_whatever_the_rates) {
  std::mt19937_64 random(test_seed());
  SCOPED_TRACE(seed_note());
  for (int round = 0; round < 500; ++round) {
    std::vector<Work> work(1 + random() % 9);
    for (Work& rank : work) rank = {random() >> (random() % 64), static_cast<double>(random() % 1000) / 250};
    const std::uint64_t records = random() >> (1 + random() % 63);
    const Shares shares = shares_by_rates(records, work);
    EXPECT_EQ(shares.strategy, "auto");
    EXPECT_EQ(std::accumulate(shares.records.begin(), shares.records.end(), std::uint64_t{0}), records);
    EXPECT_EQ(shares_by_rates(records, work).records, shares.records);
  }
}

}  // namespace
}  // namespace hetsort::sort::test
