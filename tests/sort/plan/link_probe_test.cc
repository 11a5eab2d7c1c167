// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/plan/link_probe.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <string>

#include "sort/machine/processor_quota.h"
#include "sort/plan/measure_rates.h"
#include "sort/plan/rehearsal.h"
#include "tests/machinery/in_process.h"
#include "tests/sort/inputs.h"

namespace hetsort::sort::test {
namespace {

TEST(ProbeSize, is_none_for_inputs_that_are_too_small_to_measure) {
  EXPECT_EQ(probe_size(std::uint64_t{1} << 40, 1).rounds, 0);
  EXPECT_EQ(probe_size(0, 4).rounds, 0);
  constexpr std::uint64_t kOneRound = std::uint64_t{32} << 20;  // of each host
  EXPECT_EQ(probe_size(2 * 2 * kOneRound - 2, 2).rounds, 0);
  EXPECT_EQ(probe_size(2 * 2 * kOneRound, 2).rounds, 2);
  EXPECT_EQ(probe_size(4 * kOneRound, 4).rounds, 0);
  EXPECT_EQ(probe_size(4 * 2 * kOneRound, 4).rounds, 2);
  EXPECT_EQ(probe_size(4 * 5 * kOneRound, 4).rounds, 3);
}

TEST(ProbeSize, moves_at_most_a_64th_of_the_input) {
  for (const int hosts : {2, 3, 4, 7, 100, 1000})
    for (int log = 20; log < 64; ++log) {
      const std::uint64_t bytes = std::uint64_t{1} << log;
      const ProbeSize size = probe_size(bytes, hosts);
      EXPECT_LE(static_cast<std::uint64_t>(size.rounds) * size.bytes, bytes / static_cast<std::uint64_t>(hosts) / 64);
      EXPECT_LE(size.rounds, 6);
    }
}

struct Case {
  int ranks = 2;
  comm::ExchangeMode mode = comm::ExchangeMode::kThread;
};

void PrintTo(const Case& one, std::ostream* stream) {
  *stream << one.ranks << (one.mode == comm::ExchangeMode::kThread ? "_thread" : "_threads");
}

class LinkProbeOf : public testing::TestWithParam<Case> {
 protected:
  int ranks() const { return GetParam().ranks; }
  machinery::InProcessOptions options() const {
    machinery::InProcessOptions options;
    options.communicator.mode = GetParam().mode;
    return options;
  }
};

INSTANTIATE_TEST_SUITE_P(Ranks, LinkProbeOf,
                         testing::Values(Case{2, comm::ExchangeMode::kThread}, Case{3, comm::ExchangeMode::kThread},
                                         Case{4, comm::ExchangeMode::kThreads}, Case{7, comm::ExchangeMode::kThread}),
                         testing::PrintToStringParamName());

constexpr ProbeSize kSmall{2, 100'000, 100'000'000, 4, 0};

TEST_P(LinkProbeOf, gives_all_ranks_the_same_rates) {
  SCOPED_TRACE(seed_note());
  std::vector<std::vector<ProbedLink>> found(static_cast<std::size_t>(ranks()));
  machinery::run_ranks(ranks(), test_seed(), options(), [&](comm::Communicator& ranks) {
    const std::uint64_t before = ranks.bytes_received();
    found[static_cast<std::size_t>(ranks.rank())] = probe_links(kSmall, 1, ranks);
    // Besides the flows there are credits and a few reductions.
    EXPECT_GE(ranks.bytes_received() - before, kSmall.bytes * static_cast<std::uint64_t>(kSmall.rounds));
    EXPECT_LE(ranks.bytes_received() - before, kSmall.bytes * static_cast<std::uint64_t>(kSmall.rounds) + 5000);
  });
  for (const std::vector<ProbedLink>& links : found) EXPECT_EQ(links, found[0]);
  for (const ProbedLink& link : found[0]) {
    EXPECT_TRUE(link.rate > 0 || throttled_seconds() > 0);
    EXPECT_GT(link.message_seconds, 0);
  }
}

TEST_P(LinkProbeOf, ends_with_the_job_when_a_rank_fails) {
  for (const machinery::RankEnd& end :
       machinery::try_ranks(ranks(), test_seed(), options(), [&](comm::Communicator& ranks) {
         if (ranks.rank() == 1) throw std::runtime_error("no more");
         static_cast<void>(probe_links(kSmall, 1, ranks));
       }))
    EXPECT_EQ(end.conclusion, "rank 1 (node1): no more");
}

TEST_P(LinkProbeOf, ends_with_one_error_when_a_rank_falls_silent) {
  machinery::InProcessOptions silent = options();
  silent.communicator.heartbeat_seconds = 0.1;
  silent.communicator.stall_timeout_seconds = 1.2;
  silent.stopped_rank = 1;
  for (const std::uint64_t sends : {60, 75, 90}) {
    silent.stopped_after_sends = sends;
    ::testing::internal::CaptureStderr();
    for (const machinery::RankEnd& end :
         machinery::try_ranks(ranks(), test_seed(), silent, [](comm::Communicator& ranks) {
           ranks.set_phase("measure");
           for (;;) static_cast<void>(probe_links(kSmall, 1, ranks));
         }))
      EXPECT_NE(end.message, "");
    EXPECT_EQ(::testing::internal::GetCapturedStderr(),
              "hetsort: rank 1 (node1): silent for 1 s in phase measure: stalled or unreachable; output untouched\n");
  }
}

TEST(LinkProbe, moves_few_bytes_before_a_run_that_is_short) {
  constexpr ProbeSize kLarge{3, 1'000'000, 1'000'000'000, 4, 0};
  for (const bool is_short : {true, false})
    machinery::run_ranks(4, test_seed(), {}, [&](comm::Communicator& ranks) {
      const std::uint64_t before = ranks.bytes_received();
      static_cast<void>(probe_links(kLarge, is_short ? 0 : 1e6, ranks));
      const std::uint64_t each = is_short ? std::uint64_t{512} << 10 : kLarge.bytes;
      const std::uint64_t most = kLarge.least() + 2 * each;
      EXPECT_GE(ranks.bytes_received() - before, most);
      EXPECT_LE(ranks.bytes_received() - before, most + 5000);
    });
}

TEST(LinkProbe, measures_links_that_differ_up_to_twice_more) {
  SCOPED_TRACE(seed_note());
  constexpr ProbeSize kDoubtful{2, 100'000, 100'000'000, 4};
  machinery::InProcessOptions slow;
  slow.longest_delay_microseconds = 3000;  // long enough to make links differ, and shorter than what is believed
  std::uint64_t most = 0;                  // passes through the rounds
  for (std::uint64_t run = 0; run < 20 && most < 2; ++run)
    machinery::run_ranks(4, test_seed() + run, slow, [&](comm::Communicator& ranks) {
      const std::uint64_t before = ranks.bytes_received();
      static_cast<void>(probe_links(kDoubtful, 1, ranks));
      const std::uint64_t passes = (ranks.bytes_received() - before) / kDoubtful.bytes - 1;
      EXPECT_GE(passes, 1U);
      EXPECT_LE(passes, 3U);
      if (ranks.rank() == 0) most = passes;
    });
  EXPECT_GE(most, 2U);
}

TEST(LinkProbe, doubts_a_link_only_if_it_is_clearly_slower_than_another_host_s) {
  const std::vector<double> rates{100, 0, 41, 0, 39};  // the second rank of a host has no rate
  EXPECT_FALSE(links_differ(rates, std::vector<int>{0, 2}));
  EXPECT_TRUE(links_differ(rates, std::vector<int>{0, 4}));
  EXPECT_TRUE(links_differ(rates, std::vector<int>{4, 2, 0}));
  EXPECT_FALSE(links_differ(rates, std::vector<int>{4, 2}));
  EXPECT_FALSE(links_differ(std::vector<double>(5, 0.0), std::vector<int>{0, 2, 4}));
}

TEST(RatesOfFlows, are_those_of_the_fastest_transfer_that_no_quota_stopped) {
  const auto both = [](std::uint64_t bytes) { return std::vector<Flow>{{0, 1, bytes}, {1, 2, bytes}, {2, 0, bytes}}; };
  const std::vector<std::vector<Flow>> rounds{both(9'000'000), both(100), both(100)};
  // Rank 2 is slow, and a quota stops rank 1 in the last round, which would have been the fastest.
  std::vector<std::vector<RoundTime>> times{
      {{{1}, 0}, {{0.5}, 0}, {{0.4}, 0}}, {{{1}, 0}, {{0.1}, 0}, {{0.01}, 1}}, {{{1}, 0}, {{2}, 0}, {{0.01}, 0}}};
  EXPECT_EQ(rates_of_flows(rounds, times), (std::vector<double>{1000, 1000, 250}));
  // A rank that was always stopped may be as fast as the fastest.
  times[1][1].was_stopped = 1;
  EXPECT_EQ(rates_of_flows(rounds, times), (std::vector<double>{250, 250, 250}));
  for (auto& rank : times) rank[1].was_stopped = rank[2].was_stopped = 1;
  EXPECT_EQ(rates_of_flows(rounds, times), std::vector<double>(3, 0.0));
  // The first bytes of a flow may be faster than the rest.
  times[0][1] = {{.all = 0.5, .half = 0.1, .half_bytes = 60}, 0};
  times[1][1] = {{.all = 0.5, .half = 0.4, .half_bytes = 60}, 0};
  times[2][1] = {{.all = 0.5, .half = 0.5, .half_bytes = 100}, 0};
  EXPECT_EQ(rates_of_flows({rounds.begin(), 2}, times), (std::vector<double>{200, 200, 200}));
  times[1][1].was_stopped = 1;
  EXPECT_EQ(rates_of_flows({rounds.begin(), 2}, times), (std::vector<double>{100, 100, 100}));
  for (auto& rank : times) rank[1] = {{.all = 0.002, .half = 0.001, .half_bytes = 90}, 0};
  EXPECT_EQ(rates_of_flows({rounds.begin(), 2}, times), std::vector<double>(3, 100 / 0.002));
  // Ranks without flows have no rate: others speak for their hosts.
  times.push_back({{}, {}, {}});
  EXPECT_EQ(rates_of_flows(rounds, times).back(), 0);
}

TEST(LinkProbe, takes_the_least_processor_time_for_a_byte_of_both_directions) {
  const std::vector<std::vector<Flow>> rounds{
      {{0, 1, 50}, {1, 0, 50}}, {{0, 1, 100}, {1, 0, 100}}, {{0, 1, 300}, {1, 0, 300}}};
  std::vector<std::vector<RoundTime>> times(3, std::vector<RoundTime>(3));
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    times[0][round].processor_seconds = round == 0 ? 1000 : 4;
    times[1][round].processor_seconds = static_cast<double>(round);
  }
  EXPECT_EQ(message_seconds_of(rounds, times), (std::vector<double>{4.0 / 600, 2.0 / 600, 0}));
}

TEST(LinkProbe, lets_the_first_rank_speak_for_each_host) {
  machinery::InProcessOptions options;
  options.ranks_per_host = 3;
  machinery::run_ranks(8, test_seed(), options, [](comm::Communicator& ranks) {
    EXPECT_EQ(first_ranks_of_hosts(ranks), (std::vector<int>{0, 3, 6}));
  });
  machinery::run_ranks(3, test_seed(), {}, [](comm::Communicator& ranks) {
    EXPECT_EQ(first_ranks_of_hosts(ranks), (std::vector<int>{0, 1, 2}));
  });
}

TEST(LinkProbe, measures_hosts_and_not_their_ranks) {
  machinery::InProcessOptions options;
  options.ranks_per_host = 2;
  machinery::run_ranks(4, test_seed(), options, [&](comm::Communicator& ranks) {
    const std::uint64_t before = ranks.bytes_received();
    const std::vector<ProbedLink> links = probe_links({2, 100'000, 100'000'000, 2}, 1, ranks);
    EXPECT_EQ(ranks.bytes_received() - before > 100'000, ranks.rank() % 2 == 0);
    EXPECT_TRUE(links[0].rate > 0 || throttled_seconds() > 0);
    EXPECT_EQ(links[0], links[1]);
    EXPECT_EQ(links[2], links[3]);
  });
  options.ranks_per_host = 4;
  machinery::run_ranks(4, test_seed(), options,
                       [&](comm::Communicator& ranks) { EXPECT_EQ(probe_links(kSmall, 1, ranks)[0], ProbedLink{}); });
}

TEST(Rehearsal, takes_some_time_for_records_of_every_size) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{100}, std::size_t{1} << 20}) {
    const ProcessorCosts costs = rehearse({.record_bytes = bytes, .key_bytes = std::min<std::size_t>(bytes, 10)}, 0);
    EXPECT_GT(costs.form_seconds, 0) << bytes;
    EXPECT_GT(costs.merge_seconds, 0) << bytes;
  }
}

TEST(RankRates, are_refused_where_they_are_impossible) {
  EXPECT_NO_THROW(check_rates(std::vector<RankRates>(3)));
  for (const double bad : {-1.0, 1e300, std::numeric_limits<double>::quiet_NaN()}) {
    std::vector<RankRates> rates(3);
    rates[1].link_out = bad;
    EXPECT_THROW(check_rates(rates), std::runtime_error) << bad;
  }
}

}  // namespace
}  // namespace hetsort::sort::test
