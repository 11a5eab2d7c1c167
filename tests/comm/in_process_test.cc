// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that need ranks in one process: faults of the transport, stopped ranks, limits.
#include <array>
#include <atomic>
#include <bit>
#include <memory>

#include "comm/transport/transport.h"
#include "tests/comm/harness.h"

namespace hetsort::comm::test {

namespace {

class CommStall : public ::testing::TestWithParam<ExchangeMode> {
 protected:
  machinery::InProcessOptions options() const {
    machinery::InProcessOptions options;
    options.communicator = {GetParam(), 1.2, 0.1};
    return options;
  }
};
INSTANTIATE_TEST_SUITE_P(All, CommStall,
                         ::testing::Values(ExchangeMode::kInline, ExchangeMode::kThread, ExchangeMode::kThreads),
                         [](const auto& each) { return name_of(each.param); });

TEST(CommWaiting, ranks_that_can_ring_each_other_seldom_poll) {
  machinery::InProcessOptions options;
  std::atomic<std::uint64_t> polls{0};
  std::atomic<std::uint64_t> before{0};
  options.polls = &polls;
  machinery::run_ranks(2, test_seed(), options, [&](Communicator& ranks) {
    ranks.barrier();
    if (ranks.rank() == 1) {
      before = polls.load();
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }
    ranks.barrier();
    if (ranks.rank() == 1) return;
    EXPECT_LT(polls - before, 80);  // without rings about 190
  });
}

TEST(CommWaiting, two_hundred_ranks_join_and_reduce) {
  machinery::InProcessOptions options;
  // MPI copies messages as small as these. Ranks that wait for their sends poll, and so many would keep both
  // processors.
  options.rendezvous = 0;
  machinery::run_ranks(200, test_seed(), options, [](Communicator& ranks) {
    for (int i = 0; i < 5; ++i) EXPECT_EQ(ranks.all_reduce_sum(1), 200U);
  });
}

void wait_for_all(Communicator& ranks) {
  ranks.set_phase("form_runs");
  std::uint64_t value = 0;
  for (;;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ranks.all_reduce_sum({&value, 1});
  }
}

TEST_P(CommStall, a_silent_rank_is_named_and_ends_the_job) {
  for (int stopped = 0; stopped < 3; ++stopped) {
    machinery::InProcessOptions with = options();
    with.stopped_rank = stopped;
    with.stopped_after_sends = 60;
    ::testing::internal::CaptureStderr();
    const auto begin = Clock::now();
    const std::vector<machinery::RankEnd> ends = machinery::try_ranks(3, test_seed(), with, wait_for_all);
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    const std::string said = ::testing::internal::GetCapturedStderr();
    const std::string name = "rank " + std::to_string(stopped) + " (node" + std::to_string(stopped) + "): ";
    EXPECT_TRUE(said.starts_with("hetsort: " + name + "silent for 1 s in phase form_runs: stalled or unreachable"))
        << said;
    EXPECT_TRUE(said.ends_with("; output untouched\n")) << said;
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
    for (const machinery::RankEnd& end : ends) EXPECT_NE(end.message, "");
    EXPECT_LT(seconds, 10);
  }
}

TEST_P(CommStall, a_rank_that_computes_for_long_is_alive) {
  machinery::run_ranks(3, test_seed(), options(), [](Communicator& ranks) {
    if (ranks.rank() == 1) std::this_thread::sleep_for(std::chrono::seconds(3));
    std::uint64_t value = 1;
    ranks.all_reduce_sum({&value, 1});
    if (ranks.rank() == 0) std::this_thread::sleep_for(std::chrono::seconds(3));
    ranks.all_reduce_sum({&value, 1});
    EXPECT_EQ(value, 9);
  });
}

TEST_P(CommStall, a_message_that_is_never_received_does_not_delay_the_end) {
  machinery::InProcessOptions with = options();
  with.rendezvous = 1;
  ::testing::internal::CaptureStderr();
  const std::vector<machinery::RankEnd> ends = machinery::try_ranks(2, test_seed(), with, [](Communicator& ranks) {
    const int tag = ranks.take_tags(1);
    static const std::array<std::byte, 8> out{};
    if (ranks.rank() == 0) ranks.send(1, tag, out, [] {});
    std::uint64_t value = 1;
    ranks.all_reduce_sum({&value, 1});
    if (ranks.rank() == 1) throw std::runtime_error("boom");
    ranks.all_reduce_sum({&value, 1});
  });
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(said, "hetsort: rank 1 (node1): boom; output untouched\n");
  for (const machinery::RankEnd& end : ends) EXPECT_NE(end.message, "");
}

TEST(CommInProcess, a_corrupted_message_has_one_wrong_bit) {
  machinery::InProcessOptions options;
  options.corrupt_message = 3;
  std::atomic<int> wrong_bits{0};
  machinery::run_ranks(2, test_seed(), options, [&](Communicator& ranks) {
    const int tag = ranks.take_tags(1);
    const Bytes out = pattern(1000, 1);
    std::array<Bytes, 5> in;
    std::atomic<int> open{ranks.rank() == 0 ? 0 : 5};
    for (Bytes& each : in) {
      if (ranks.rank() == 0) {
        ++open;
        ranks.send(1, tag, out, [&] { --open; });
        continue;
      }
      each.resize(1000);
      ranks.receive(0, tag, each, [&](std::size_t) { --open; });
    }
    wait_until(ranks, [&] { return open == 0; });
    EXPECT_TRUE(out == pattern(1000, 1));
    if (ranks.rank() == 0) return;
    for (const Bytes& each : in)
      for (std::size_t i = 0; i < each.size(); ++i)
        wrong_bits += std::popcount(std::to_integer<unsigned>(each[i] ^ out[i]));
    EXPECT_TRUE(in[0] == out && in[1] == out && in[3] == out && in[4] == out);
  });
  EXPECT_EQ(wrong_bits, 1);
}

TEST(CommInProcess, errors_come_back_to_the_caller) {
  EXPECT_THROW(machinery::run_ranks(3, test_seed(), {},
                                    [](Communicator& ranks) {
                                      std::uint64_t value = 1;
                                      if (ranks.rank() == 1) throw std::invalid_argument("boom");
                                      for (;;) ranks.all_reduce_sum({&value, 1});
                                    }),
               std::invalid_argument);
  EXPECT_THROW(machinery::run_ranks(2, test_seed(), {}, [](Communicator& ranks) { ranks.fail("boom"); }),
               std::runtime_error);
}

TEST(CommInProcess, failures_at_the_same_time_have_one_outcome) {
  for (std::uint64_t round = 0; round < 20; ++round) {
    std::vector<machinery::RankEnd> ends = machinery::try_ranks(5, test_seed() + round, {}, [](Communicator& ranks) {
      std::uint64_t value = 1;
      ranks.all_reduce_sum({&value, 1});
      throw std::runtime_error("boom of " + std::to_string(ranks.rank()));
    });
    EXPECT_TRUE(ends[0].conclusion.ends_with(std::string("boom of ") + ends[0].conclusion[5])) << ends[0].conclusion;
    for (const machinery::RankEnd& end : ends) EXPECT_EQ(end.conclusion, ends[0].conclusion);
  }
}

TEST(CommInProcess, ranks_of_a_host_are_counted) {
  machinery::InProcessOptions options;
  options.ranks_per_host = 2;
  machinery::run_ranks(5, test_seed(), options, [](Communicator& ranks) {
    EXPECT_EQ(ranks.host(3), "node1");
    EXPECT_EQ(ranks.ranks_on_host(), ranks.rank() == 4 ? 1 : 2);
  });
}

TEST(CommInProcess, a_transport_that_cannot_be_made_is_an_error) {
  for (const ExchangeMode mode : {ExchangeMode::kInline, ExchangeMode::kThread, ExchangeMode::kThreads}) {
    const auto make = [](ExchangeMode) -> std::unique_ptr<Transport> { throw std::runtime_error("no way"); };
    EXPECT_THROW(Communicator(make, {mode}), std::runtime_error);
  }
}

TEST(CommInProcess, a_rank_that_ends_without_a_result_fails_the_others) {
  // The communicator's destructor reports the failure.
  for (const ExchangeMode mode : {ExchangeMode::kInline, ExchangeMode::kThread, ExchangeMode::kThreads}) {
    const std::vector<MakeTransport> job = machinery::make_in_process_job(3, test_seed(), {});
    std::array<std::string, 3> conclusions;
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < 3; ++rank)
      threads.emplace_back([&, rank] {
        Communicator ranks(job[rank], {mode});
        if (rank != 1) conclusions.at(rank) = ranks.conclude();
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(conclusions[0], "rank 1 (node1): ended without a result");
    EXPECT_EQ(conclusions[2], conclusions[0]);
  }
}

}  // namespace

}  // namespace hetsort::comm::test
