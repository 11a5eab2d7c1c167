// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/plan/link_probe.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <ostream>
#include <set>
#include <stdexcept>
#include <thread>

#include "comm/in_process.h"
#include "tests/sort/inputs.h"

namespace hetsort::sort::test {
namespace {

TEST(ProbePlan, leaves_out_inputs_that_are_too_small_to_measure) {
  EXPECT_TRUE(plan_link_probe(std::uint64_t{1} << 40, 1).distances.empty());
  EXPECT_TRUE(plan_link_probe(0, 4).distances.empty());
  constexpr std::uint64_t kOneRound = std::uint64_t{64} << 20;  // of each rank
  EXPECT_EQ(plan_link_probe(2 * kOneRound, 2).distances, std::vector<int>{1});
  EXPECT_TRUE(plan_link_probe(2 * kOneRound - 2, 2).distances.empty());
  EXPECT_EQ(plan_link_probe(4 * 3 * kOneRound, 4).distances, (std::vector<int>{1, 2, 3}));
  EXPECT_TRUE(plan_link_probe(4 * 3 * kOneRound - 4, 4).distances.empty());
}

TEST(ProbePlan, moves_a_small_part_of_the_input_between_different_partners) {
  for (const int ranks : {2, 3, 4, 7, 9, 10, 16, 100, 1000})
    for (int log = 20; log < 64; ++log) {
      const std::uint64_t bytes = std::uint64_t{1} << log;
      const ProbePlan plan = plan_link_probe(bytes, ranks);
      const std::size_t rounds = plan.distances.size();
      const std::set<int> different(plan.distances.begin(), plan.distances.end());
      EXPECT_EQ(different.size(), rounds);
      if (rounds == 0) continue;
      EXPECT_GE(*different.begin(), 1);
      EXPECT_LT(*different.rbegin(), ranks);
      EXPECT_GE(plan.messages, 16);
      const std::uint64_t moved = rounds * static_cast<std::uint64_t>(plan.messages) * ProbePlan::kMessageBytes;
      EXPECT_LE(moved, bytes / static_cast<std::uint64_t>(ranks) / 64);
      EXPECT_LE(moved, std::uint64_t{64} << 20);
    }
}

struct Case {
  int ranks = 2;
  comm::ExchangeMode mode = comm::ExchangeMode::kThread;
};

std::ostream& operator<<(std::ostream& stream, const Case& one) {
  return stream << one.ranks << (one.mode == comm::ExchangeMode::kThread ? " ranks, thread" : " ranks, threads");
}

class LinkProbeOf : public testing::TestWithParam<Case> {
 protected:
  int ranks() const { return GetParam().ranks; }
  comm::InProcessOptions options() const {
    comm::InProcessOptions options;
    options.communicator.mode = GetParam().mode;
    return options;
  }
  ProbePlan plan() const {
    ProbePlan plan{.distances = {}, .messages = 20};
    for (int distance = 1; distance < ranks(); ++distance) plan.distances.push_back(distance);
    return plan;
  }
};

std::string name_of_case(const testing::TestParamInfo<Case>& info) {
  return std::to_string(info.param.ranks) + (info.param.mode == comm::ExchangeMode::kThread ? "_thread" : "_threads");
}

INSTANTIATE_TEST_SUITE_P(Ranks, LinkProbeOf,
                         testing::Values(Case{2, comm::ExchangeMode::kThread}, Case{3, comm::ExchangeMode::kThread},
                                         Case{4, comm::ExchangeMode::kThread}, Case{2, comm::ExchangeMode::kThreads},
                                         Case{3, comm::ExchangeMode::kThreads}, Case{4, comm::ExchangeMode::kThreads}),
                         name_of_case);

/// Waits until the probe is over. Throws: PeerFailed; std::runtime_error after a minute.
void await_end(const LinkProbe& probe, const comm::Communicator& ranks) {
  const auto begin = std::chrono::steady_clock::now();
  while (!probe.is_over()) {
    ranks.check();
    if (std::chrono::steady_clock::now() - begin > std::chrono::minutes(1))
      throw std::runtime_error("the probe does not end");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST_P(LinkProbeOf, receives_all_messages_of_all_rounds) {
  comm::run_ranks(ranks(), test_seed(), options(), [&](comm::Communicator& ranks) {
    const std::uint64_t before = ranks.bytes_received();
    const LinkProbe probe(plan(), ranks);
    await_end(probe, ranks);
    const std::vector<double> rates = probe.rates();
    ASSERT_EQ(rates.size(), plan().distances.size());
    for (const double rate : rates) EXPECT_GT(rate, 0);
    // Grants have one byte, and there is a reduction at the start.
    const std::uint64_t messages = plan().distances.size() * static_cast<std::uint64_t>(plan().messages);
    EXPECT_GE(ranks.bytes_received() - before, messages * ProbePlan::kMessageBytes);
    EXPECT_LE(ranks.bytes_received() - before, messages * (ProbePlan::kMessageBytes + 1) + 1000);
  });
}

TEST_P(LinkProbeOf, ends_early_when_all_ranks_stop) {
  ProbePlan longer = plan();
  longer.messages = 200;
  comm::run_ranks(ranks(), test_seed(), options(), [&](comm::Communicator& ranks) {
    LinkProbe probe(longer, ranks);
    probe.stop();
    await_end(probe, ranks);
    EXPECT_LT(ranks.bytes_received(), std::uint64_t{150} * ProbePlan::kMessageBytes);
  });
}

TEST_P(LinkProbeOf, gives_a_rank_that_stops_no_more_messages_and_the_others_all) {
  comm::run_ranks(ranks(), test_seed(), options(), [&](comm::Communicator& ranks) {
    LinkProbe probe(plan(), ranks);
    if (ranks.rank() == 0) probe.stop();
    await_end(probe, ranks);
    const std::vector<double> rates = probe.rates();
    for (std::size_t round = 0; round < rates.size() && ranks.rank() != 0; ++round) EXPECT_GT(rates[round], 0);
    if (ranks.rank() == 0 && ranks.size() > 2) {
      EXPECT_EQ(rates.back(), 0);
    }
  });
}

TEST_P(LinkProbeOf, may_be_destroyed_while_messages_are_under_way) {
  comm::run_ranks(ranks(), test_seed(), options(), [&](comm::Communicator& ranks) {
    for (int probe = 0; probe < 5; ++probe) static_cast<void>(LinkProbe(plan(), ranks));
    LinkProbe last(plan(), ranks);
    await_end(last, ranks);
    for (const double rate : last.rates()) EXPECT_GT(rate, 0);
  });
}

TEST_P(LinkProbeOf, ends_with_the_job_when_a_rank_fails) {
  for (const comm::RankEnd& end : comm::try_ranks(ranks(), test_seed(), options(), [&](comm::Communicator& ranks) {
         const LinkProbe probe(plan(), ranks);
         if (ranks.rank() == 1) throw std::runtime_error("no more");
         await_end(probe, ranks);
         ranks.barrier();
       }))
    EXPECT_EQ(end.conclusion, "rank 1 (node1): no more");
}

TEST(LinkProbe, sends_nothing_between_ranks_of_one_host) {
  comm::InProcessOptions options;
  options.ranks_per_host = 2;
  const ProbePlan plan{.distances = {1, 2, 3}, .messages = 16};
  comm::run_ranks(4, test_seed(), options, [&](comm::Communicator& ranks) {
    EXPECT_TRUE(crosses_hosts(plan, ranks));
    const LinkProbe probe(plan, ranks);
    await_end(probe, ranks);
    const std::vector<double> rates = probe.rates();
    const bool is_first_of_host = ranks.rank() % 2 == 0;
    EXPECT_EQ(rates[0] > 0, is_first_of_host);
    EXPECT_GT(rates[1], 0);
    EXPECT_EQ(rates[2] > 0, !is_first_of_host);
  });
  options.ranks_per_host = 4;
  comm::run_ranks(4, test_seed(), options,
                  [&](comm::Communicator& ranks) { EXPECT_FALSE(crosses_hosts(plan, ranks)); });
}

}  // namespace
}  // namespace hetsort::sort::test
