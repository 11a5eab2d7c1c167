// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Jobs with damaged or lost control messages, and jobs whose ranks call different collectives. They must end in time,
// with one message that names the ranks. HETSORT_TEST_CONTROL_FLIPS sets the number of flipped bits to try.
#include <random>
#include <stdexcept>

#include "comm/transport/frame.h"
#include "tests/comm/harness.h"
#include "tests/machinery/faulty_transport.h"

namespace hetsort::comm::test {

namespace {

constexpr int kRanks = 4;
constexpr double kStallSeconds = 2;

machinery::InProcessOptions options_with(const machinery::MessageFault& fault, ExchangeMode mode) {
  machinery::InProcessOptions options;
  options.communicator.mode = mode;
  options.communicator.stall_timeout_seconds = kStallSeconds;
  options.communicator.heartbeat_seconds = 0.1;
  options.longest_delay_microseconds = 10;
  options.fault = fault;
  return options;
}

/// Sends short and long messages up and down the tree and checks their contents.
void work(Communicator& ranks) {
  for (std::uint64_t round = 0; round < 3; ++round) {
    ranks.set_phase("round" + std::to_string(round));
    EXPECT_EQ(ranks.all_reduce_max(static_cast<std::uint64_t>(ranks.rank())), static_cast<std::uint64_t>(kRanks - 1));
    EXPECT_TRUE(ranks.broadcast(pattern(5000, round)) == pattern(5000, round));
    for (const Bytes& part : ranks.gather(pattern(700, round))) EXPECT_TRUE(part == pattern(700, round));
    ranks.barrier();
  }
}

struct Verdict {
  std::string all;  ///< the messages of all ranks, and the text on standard error
  bool succeeded = true;
  double seconds = 0;
};

Verdict run_with(const machinery::InProcessOptions& options, std::uint64_t seed, const machinery::RankBody& body) {
  ::testing::internal::CaptureStderr();
  const auto begin = Clock::now();
  Verdict verdict;
  for (const machinery::RankEnd& end : machinery::try_ranks(kRanks, seed, options, body)) {
    verdict.all += end.message + "\n" + end.conclusion + "\n";
    verdict.succeeded &= end.message.empty() && end.conclusion.empty();
  }
  verdict.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  verdict.all += ::testing::internal::GetCapturedStderr();
  return verdict;
}

Verdict run_with(const machinery::MessageFault& fault, ExchangeMode mode, const machinery::RankBody& body) {
  return run_with(options_with(fault, mode), test_seed() + fault.seed, body);
}

std::uint64_t flips() { return environment_number("HETSORT_TEST_CONTROL_FLIPS", kSanitized ? 20 : 50); }

TEST(CommMessageFault, a_flipped_bit_is_blamed_on_the_network_or_harmless) {
  SCOPED_TRACE(seed_note());
  std::mt19937_64 random(test_seed());
  std::uint64_t found = 0;
  for (std::uint64_t n = 0; n < flips(); ++n) {
    // A rank receives about this many messages in a job.
    constexpr std::uint64_t kMessages = 60;
    const machinery::MessageFault fault{machinery::MessageFault::Kind::kFlip, static_cast<int>(random() % kRanks),
                                        1 + random() % kMessages, random()};
    const auto mode = static_cast<ExchangeMode>(n % 3);
    SCOPED_TRACE("flip:" + std::to_string(fault.rank) + ":" + std::to_string(fault.number) + ":" +
                 std::to_string(fault.seed) + " " + name_of(mode));
    const Verdict verdict = run_with(fault, mode, work);
    if (verdict.succeeded) continue;
    ++found;
    EXPECT_NE(verdict.all.find("network or memory changed"), std::string::npos) << verdict.all;
    EXPECT_EQ(verdict.all.find("bad_alloc"), std::string::npos) << verdict.all;
    EXPECT_EQ(verdict.all.find("different collectives"), std::string::npos) << verdict.all;
    EXPECT_LT(verdict.seconds, kStallSeconds + 10);
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(found, flips() / 4);
}

TEST(CommMessageFault, the_message_names_both_ranks) {
  // The 12th message arrives after the clocks were measured. Its sender is rank 0.
  const Verdict verdict = run_with({machinery::MessageFault::Kind::kFlip, 1, 12, 3}, ExchangeMode::kThread, work);
  EXPECT_NE(verdict.all.find("rank 1 (node1): a control message from rank 0 (node0) arrived damaged: the network or "
                             "memory changed it"),
            std::string::npos)
      << verdict.all;
}

TEST(CommMessageFault, a_lost_message_ends_the_job_in_time) {
  for (std::uint64_t number = 1; number < 24; number += kSeeksRaces ? 6 : 3) {
    const auto mode = static_cast<ExchangeMode>(number % 3);
    SCOPED_TRACE("message " + std::to_string(number) + " " + name_of(mode));
    const Verdict verdict =
        run_with({machinery::MessageFault::Kind::kLose, 1, number, 0}, mode, [](Communicator& ranks) {
          for (int i = 0; i < 4; ++i) ranks.gather(Bytes(100));
          ranks.barrier();
        });
    EXPECT_LT(verdict.seconds, kStallSeconds + 15);
    // If the lost message was the goodbye, none follows it that would show the loss.
    const auto says = [&](const char* text) { return verdict.all.find(text) != std::string::npos; };
    EXPECT_TRUE(verdict.succeeded || says("is missing: the network lost it") || says("silent for") ||
                says("no message from rank 0 (node0)"))
        << verdict.all;
  }
}

TEST(CommMessageFault, ranks_that_call_different_collectives_do_not_wait_for_ever) {
  for (const ExchangeMode mode : {ExchangeMode::kInline, ExchangeMode::kThread, ExchangeMode::kThreads})
    for (const int odd : {0, 1, 2}) {
      SCOPED_TRACE(name_of(mode) + ", rank " + std::to_string(odd));
      // The odd rank makes one barrier less than the others, or one more.
      for (const int extra : {0, 1}) {
        const Verdict verdict = run_with({}, mode, [&](Communicator& ranks) {
          ranks.barrier();
          if (ranks.rank() == odd ? extra == 1 : extra == 0) ranks.barrier();
        });
        EXPECT_NE(verdict.all.find("different collectives"), std::string::npos) << verdict.all;
        EXPECT_LT(verdict.seconds, kStallSeconds + 10);
      }
    }
}

TEST(CommMessageFault, a_rank_that_failed_is_not_said_to_call_another_collective) {
  SCOPED_TRACE(seed_note());
  // A failure travels over rank 0, a sign of life directly, so that with long delays the sign often comes first.
  for (std::uint64_t number = 0; number < 8; ++number) {
    SCOPED_TRACE(number);
    machinery::InProcessOptions options =
        options_with({}, number % 2 == 0 ? ExchangeMode::kThread : ExchangeMode::kThreads);
    options.communicator.stall_timeout_seconds = 20;
    options.communicator.heartbeat_seconds = 0.002;
    options.longest_delay_microseconds = 20'000;
    const Verdict verdict = run_with(options, test_seed() + number, [](Communicator& ranks) {
      ranks.barrier();
      if (ranks.rank() == 2) throw std::runtime_error("no more");
      ranks.barrier();
    });
    EXPECT_NE(verdict.all.find("rank 2 (node2): no more"), std::string::npos) << verdict.all;
    EXPECT_EQ(verdict.all.find("different collectives"), std::string::npos) << verdict.all;
  }
}

TEST(Frame, every_flipped_bit_of_a_first_part_is_found) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{100}, kInlineBytes, kInlineBytes + 10}) {
    const Frame frame = make_frame(7, pattern(bytes, 1));
    ASSERT_TRUE(read_first_part(frame.first));
    EXPECT_EQ(read_first_part(frame.first)->length, bytes);
    for (std::size_t bit = 0; bit < 8 * frame.first.size(); ++bit) {
      Bytes damaged = frame.first;
      damaged[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
      ASSERT_FALSE(read_first_part(damaged)) << bit;
    }
    for (std::size_t size = 0; size < frame.first.size(); ++size)
      ASSERT_FALSE(read_first_part(std::span(frame.first).first(size))) << size;
  }
}

}  // namespace

}  // namespace hetsort::comm::test
