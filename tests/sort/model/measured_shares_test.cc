// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/model/measured_shares.h"

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

constexpr std::size_t kRecordBytes = 100;

RankRates rates_of(double link) {
  RankRates rates{.form_seconds = 1e-7, .merge_seconds = 1e-7};
  rates.link_in = rates.link_out = link;
  return rates;
}

/// Ranks on hosts of their own, where merging a record takes as long as forming it into a run.
MeasuredJob links_of(double bytes_per_second, Records input) {
  MeasuredJob links{.input = std::move(input), .record_bytes = kRecordBytes};
  for (std::size_t rank = 0; rank < links.input.size(); ++rank) {
    links.host.push_back(rank);
    links.rates.push_back(rates_of(bytes_per_second));
  }
  return links;
}

/// As links_of(), if merging a record takes each rank as long as forming it did.
MeasuredJob links_of(double bytes_per_second, Records input, std::span<const Work> work) {
  MeasuredJob links = links_of(bytes_per_second, std::move(input));
  for (std::size_t rank = 0; rank < work.size(); ++rank)
    links.rates[rank].merge_seconds = work[rank].seconds / static_cast<double>(work[rank].records);
  return links;
}

/// Seconds of the exchange of ranks that merge as fast as they formed runs.
double exchange_seconds(std::span<const Work> work, const MeasuredJob& links, const Records& output) {
  const auto all = static_cast<double>(std::accumulate(output.begin(), output.end(), std::uint64_t{0}));
  double longest = 0;
  for (std::size_t rank = 0; rank < output.size(); ++rank) {
    double host_in = 0;
    double host_out = 0;
    for (std::size_t one = 0; one < output.size(); ++one) {
      if (links.host[one] != links.host[rank]) continue;
      host_in += static_cast<double>(links.input[one]);
      host_out += static_cast<double>(output[one]);
    }
    const double merge =
        static_cast<double>(output[rank]) * work[rank].seconds / static_cast<double>(work[rank].records);
    const double sends = host_in * (1 - host_out / all) * kRecordBytes / links.rates[rank].link_in;
    const double receives = host_out * (1 - host_in / all) * kRecordBytes / links.rates[rank].link_in;
    longest = std::max({longest, merge, sends, receives});
  }
  return longest;
}

TEST(SharesByLinks, follow_the_processors_alone_where_links_are_fast) {
  const std::vector<Work> work{{100'000, 1}, {100'000, 2}, {400'000, 4}};
  const MeasuredJob links = links_of(1e9, {100'000, 100'000, 400'000}, work);
  EXPECT_EQ(shares_by_rates(work, links).shares.records, shares_by_rates(600'000, work).records);
}

TEST(SharesByLinks, are_equal_where_links_are_the_limit) {
  const std::vector<Work> work{{1'000'000, 1}, {1'000'000, 1.3}, {1'000'000, 1.5}};
  const MeasuredJob links = links_of(1e6, Records(3, 1'000'000));
  EXPECT_EQ(shares_by_rates(work, links).shares.records, Records(3, 1'000'000));
}

TEST(SharesByLinks, of_ranks_on_one_host_follow_the_processors) {
  const std::vector<Work> work{{300'000, 1}, {300'000, 2}};
  MeasuredJob links = links_of(1e3, {300'000, 300'000});
  links.host = {0, 0};
  EXPECT_EQ(shares_by_rates(work, links).shares.records, (Records{400'000, 200'000}));
}

TEST(SharesByLinks, are_equal_if_no_rank_worked_long_enough) {
  const std::vector<Work> work{{50, 0.001}, {20, 0.001}};
  EXPECT_EQ(shares_by_rates(work, links_of(1e6, {50, 20})).shares.records, (Records{35, 35}));
}

TEST(SharesByLinks, never_make_the_exchange_longer_than_equal_shares_do) {
  std::mt19937_64 random(test_seed());
  SCOPED_TRACE(seed_note());
  const auto between = [&](std::uint64_t low, std::uint64_t high) { return low + random() % (high - low + 1); };
  for (int round = 0; round < 1000; ++round) {
    const std::size_t hosts = between(1, 5);
    const bool is_skewed = round % 3 == 0;
    std::vector<Work> work;
    MeasuredJob links = links_of(0, {});
    const double bytes_per_second = static_cast<double>(between(1, 200)) * 1e6;
    for (std::size_t host = 0; host < hosts; ++host) {
      for (std::uint64_t rank = between(1, 2); rank > 0; --rank) {
        links.host.push_back(host);
        links.rates.push_back(rates_of(bytes_per_second));
        links.input.push_back(is_skewed ? between(0, 2'000'000) : 1'000'000);
        work.push_back({1'000'000, static_cast<double>(between(25, 100)) / 25});  // within the limits of rates
        links.rates.back().merge_seconds = work.back().seconds / static_cast<double>(work.back().records);
      }
    }
    const std::uint64_t records = std::accumulate(links.input.begin(), links.input.end(), std::uint64_t{0});
    const Records shares = shares_by_rates(work, links).shares.records;
    ASSERT_EQ(std::accumulate(shares.begin(), shares.end(), std::uint64_t{0}), records);
    EXPECT_EQ(shares_by_rates(work, links).shares.records, shares);
    const double equal = exchange_seconds(work, links, equal_shares(records, work.size()).records);
    EXPECT_LE(exchange_seconds(work, links, shares), equal * (1 + 1e-9)) << "round " << round;
  }
}

TEST(SharesByLinks, leave_less_to_a_rank_behind_a_slow_link) {
  const std::vector<Work> work(3, {1'000'000, 0.01});
  MeasuredJob job = links_of(100e6, Records(3, 1'000'000));
  job.rates[2].link_in = 10e6;
  const Records shares = shares_by_rates(work, job).shares.records;
  EXPECT_LT(shares[2], 500'000U);
  EXPECT_GT(shares[0], 1'000'000U);
}

TEST(SharesByLinks, leave_less_to_a_rank_with_a_slow_disk) {
  const std::vector<Work> work(2, {1'000'000, 0.01});
  MeasuredJob job = links_of(1e10, Records(2, 1'000'000));
  job.rates[0].disk_write = 150e6;
  job.rates[1].disk_write = 50e6;
  EXPECT_EQ(shares_by_rates(work, job).shares.records, (Records{1'500'000, 500'000}));
}

TEST(SharesByLinks, do_not_follow_chance_where_rates_differ_as_measurements_do) {
  const std::vector<Work> work(4, {1'000'000, 0.01});
  MeasuredJob job = links_of(50e6, Records(4, 1'000'000));
  const std::vector<double> factors{1, 0.9, 0.5, 0.45};
  for (std::size_t rank = 0; rank < factors.size(); ++rank) {
    job.rates[rank].disk_write = 400e6 * factors[rank];
    job.rates[rank].link_in = job.rates[rank].link_out = 50e6 * factors[3 - rank];
  }
  EXPECT_EQ(shares_by_rates(work, job).shares.records, Records(4, 1'000'000));
}

TEST(SharesByLinks, leave_records_where_they_are_if_messages_cost_more_than_merging) {
  const std::vector<Work> work{{4'000'000, 0.4}, {0, 0}, {0, 0}, {0, 0}};
  MeasuredJob links = links_of(1e12, {4'000'000, 0, 0, 0});
  EXPECT_EQ(shares_by_rates(work, links).shares.records, Records(4, 1'000'000));
  for (const double processors : {1.0, 0.5}) {
    for (RankRates& rank : links.rates) rank.processors = processors;
    for (RankRates& rank : links.rates) rank.message_seconds = 0.5e-9;  // 100 bytes cost half of merging
    EXPECT_LT(shares_by_rates(work, links).shares.records[0], 10'000U);
    for (RankRates& rank : links.rates) rank.message_seconds = 2e-9;
    EXPECT_EQ(shares_by_rates(work, links).shares.records[0], 4'000'000U);
  }
  for (RankRates& rank : links.rates) rank.link_in = rank.link_out = 0;  // a quota may hide them
  EXPECT_EQ(shares_by_rates(work, links).shares.records[0], 4'000'000U);
}

TEST(SharesByLinks, of_a_rank_that_read_nothing_follow_its_rehearsal) {
  const std::vector<Work> work{{3'000'000, 0.3}, {0, 0}};
  MeasuredJob links = links_of(1e12, {3'000'000, 0});
  links.rates[1].processors = 0.5;
  EXPECT_EQ(shares_by_rates(work, links).shares.records, (Records{2'000'000, 1'000'000}));
}

TEST(SharesByLinks, say_what_bounds_each_rank) {
  const std::vector<Work> work(2, {1'000'000, 0.01});
  const auto bound = [&](double link) {
    return shares_by_rates(work, links_of(link, Records(2, 1'000'000))).exchange[1].bound;
  };
  EXPECT_EQ(bound(1e12), partition::Resource::kProcessor);
  EXPECT_EQ(bound(1e6), partition::Resource::kLinkOut);
}

constexpr std::uint64_t kJobRecords = 6'000'000;

TEST(PlanClaims, are_equal_slices_where_links_are_fast) {
  const Records most(4, kJobRecords);
  const ClaimPlan plan = plan_claims(links_of(1e12, Records(4, 0)), kJobRecords, most);
  EXPECT_EQ(plan.slices, Records(4, kJobRecords / 4));
  EXPECT_EQ(plan.most, most);
}

TEST(PlanClaims, are_equal_slices_if_something_was_not_measured) {
  MeasuredJob job = links_of(1e6, Records(4, 0));
  job.rates[2].link_in = 0;
  const Records most(4, kJobRecords);
  EXPECT_EQ(plan_claims(job, kJobRecords, most).slices, Records(4, kJobRecords / 4));
  EXPECT_EQ(plan_claims({}, kJobRecords, most).slices, Records(4, kJobRecords / 4));
}

TEST(PlanClaims, leave_all_records_to_one_rank_where_links_are_very_slow) {
  const ClaimPlan plan = plan_claims(links_of(1e6, Records(4, 0)), kJobRecords, Records(4, kJobRecords));
  EXPECT_EQ(plan.slices, (Records{kJobRecords, 0, 0, 0}));
  EXPECT_EQ(plan.most, (Records{kJobRecords, 0, 0, 0}));
}

TEST(PlanClaims, take_no_notice_of_small_differences_between_processors) {
  MeasuredJob job = links_of(1e6, Records(3, 0));
  job.rates[2].form_seconds = job.rates[2].merge_seconds = 0.9e-7;
  EXPECT_EQ(plan_claims(job, kJobRecords, Records(3, kJobRecords)).slices, (Records{kJobRecords, 0, 0}));
}

TEST(PlanClaims, let_a_rank_behind_a_slow_link_read_less) {
  MeasuredJob job = links_of(2e9, Records(4, 0));
  for (const std::size_t rank : {2, 3}) job.rates[rank].link_in = job.rates[rank].link_out = 30e6;
  const ClaimPlan plan = plan_claims(job, kJobRecords, Records(4, kJobRecords));
  EXPECT_LT(plan.slices[3], kJobRecords / 8);
  EXPECT_EQ(plan.most[3], plan.slices[3]);
  EXPECT_EQ(plan.most[0], kJobRecords);
}

TEST(PlanClaims, let_no_rank_that_spills_read_more_than_an_equal_slice) {
  const Records some_spill{kOnDisk, kJobRecords, kOnDisk, kJobRecords};
  const ClaimPlan plan = plan_claims(links_of(1e6, Records(4, 0)), kJobRecords, some_spill);
  EXPECT_LE(plan.slices[0], kJobRecords / 4);
  EXPECT_LE(plan.slices[2], kJobRecords / 4);
  EXPECT_EQ(std::max(plan.slices[1], plan.slices[3]), kJobRecords);
  const Records all_spill(4, kOnDisk);
  const ClaimPlan race = plan_claims(links_of(1e6, Records(4, 0)), kJobRecords, all_spill);
  EXPECT_EQ(race.slices, Records(4, kJobRecords / 4));
  EXPECT_EQ(race.most, all_spill);
}

TEST(PlanClaims, keep_within_what_ranks_can_hold) {
  std::mt19937_64 random(test_seed());
  SCOPED_TRACE(seed_note());
  for (int round = 0; round < 100; ++round) {
    const std::size_t ranks = 1 + random() % 5;
    MeasuredJob job = links_of(0, Records(ranks, 0));
    Records most;
    for (RankRates& rates : job.rates) {
      rates.link_in = static_cast<double>(1 + random() % 100) * 1e6;
      rates.link_out = static_cast<double>(1 + random() % 100) * 1e6;
      rates.processors = static_cast<double>(1 + random() % 4) / 2;
      most.push_back(kJobRecords / ranks + 1 + random() % kJobRecords);
    }
    const ClaimPlan plan = plan_claims(job, kJobRecords, most);
    EXPECT_EQ(std::accumulate(plan.slices.begin(), plan.slices.end(), std::uint64_t{0}), kJobRecords);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      EXPECT_LE(plan.slices[rank], plan.most[rank]);
      EXPECT_LE(plan.most[rank], most[rank]);
    }
  }
}

}  // namespace
}  // namespace hetsort::sort::test
