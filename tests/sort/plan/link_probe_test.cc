// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/plan/link_probe.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>

#include "tests/machinery/in_process.h"
#include "tests/sort/inputs.h"

namespace hetsort::sort::test {
namespace {

TEST(ProbeTurns, are_none_for_inputs_that_are_too_small_to_measure) {
  EXPECT_EQ(probe_turns(std::uint64_t{1} << 40, 1), 0);
  EXPECT_EQ(probe_turns(0, 4), 0);
  constexpr std::uint64_t kOneTurn = std::uint64_t{64} << 20;  // of each rank
  EXPECT_EQ(probe_turns(2 * kOneTurn - 2, 2), 0);
  EXPECT_EQ(probe_turns(2 * kOneTurn, 2), 1);
  EXPECT_EQ(probe_turns(4 * 3 * kOneTurn, 4), 3);
}

TEST(ProbeTurns, move_at_most_a_64th_of_the_input) {
  for (const int ranks : {2, 3, 4, 7, 100, 1000})
    for (int log = 20; log < 64; ++log) {
      const std::uint64_t bytes = std::uint64_t{1} << log;
      const auto turns = static_cast<std::uint64_t>(probe_turns(bytes, ranks));
      EXPECT_LE(turns * LinkProbe::kBurstBytes, bytes / static_cast<std::uint64_t>(ranks) / 64);
      EXPECT_LE(turns, 12U);
    }
}

constexpr int kTurns = kSanitized ? 2 : 4;

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

TEST_P(LinkProbeOf, gives_all_ranks_the_same_rate) {
  SCOPED_TRACE(seed_note());
  std::vector<double> rates(static_cast<std::size_t>(ranks()));
  machinery::run_ranks(ranks(), test_seed(), options(), [&](comm::Communicator& ranks) {
    const std::uint64_t before = ranks.bytes_received();
    LinkProbe probe(kTurns, ranks);
    rates[static_cast<std::size_t>(ranks.rank())] = probe.rate().value_or(0);
    // A question has one byte, and there are two reductions.
    const std::uint64_t bytes = kTurns * LinkProbe::kBurstBytes;
    EXPECT_GE(ranks.bytes_received() - before, bytes);
    EXPECT_LE(ranks.bytes_received() - before, bytes + kTurns + 1000);
  });
  EXPECT_GT(rates[0], 0);
  EXPECT_EQ(rates, std::vector<double>(rates.size(), rates[0]));
}

TEST_P(LinkProbeOf, serves_the_other_ranks_while_this_rank_does_not_look) {
  machinery::run_ranks(ranks(), test_seed(), options(), [&](comm::Communicator& ranks) {
    LinkProbe probe(kTurns, ranks);
    while (ranks.bytes_received() < kTurns * LinkProbe::kBurstBytes) {
      ranks.check();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ranks.barrier();
    EXPECT_GT(probe.rate().value_or(0), 0);
  });
}

TEST_P(LinkProbeOf, ends_with_the_job_when_a_rank_fails) {
  for (const machinery::RankEnd& end :
       machinery::try_ranks(ranks(), test_seed(), options(), [&](comm::Communicator& ranks) {
         LinkProbe probe(kTurns, ranks);
         if (ranks.rank() == 1) throw std::runtime_error("no more");
         static_cast<void>(probe.rate());
       }))
    EXPECT_EQ(end.conclusion, "rank 1 (node1): no more");
}

TEST(LinkProbe, asks_only_ranks_on_other_hosts) {
  machinery::InProcessOptions options;
  options.ranks_per_host = 2;
  machinery::run_ranks(4, test_seed(), options, [&](comm::Communicator& ranks) {
    const std::uint64_t before = ranks.bytes_received();
    LinkProbe probe(3, ranks);  // one turn for each other rank
    EXPECT_GT(probe.rate().value_or(0), 0);
    EXPECT_GE(ranks.bytes_received() - before, 2 * LinkProbe::kBurstBytes);
    EXPECT_LT(ranks.bytes_received() - before, 3 * LinkProbe::kBurstBytes);
  });
  options.ranks_per_host = 4;
  machinery::run_ranks(4, test_seed(), options,
                       [&](comm::Communicator& ranks) { EXPECT_EQ(LinkProbe(3, ranks).rate(), std::nullopt); });
}

}  // namespace
}  // namespace hetsort::sort::test
