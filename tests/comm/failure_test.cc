// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "tests/comm/harness.h"
#include "tests/io/scratch.h"

namespace hetsort::comm::test {

namespace {

using CommFailure = CommSuite;
INSTANTIATE_TEST_SUITE_P(All, CommFailure, ::testing::ValuesIn(settings()), setting_name);

std::string reported(const Communicator& ranks, int rank, const std::string& message) {
  if (ranks.size() == 1) return message;
  return "rank " + std::to_string(rank) + " (" + ranks.host(rank) + "): " + message;
}

/// Runs `body` on all ranks once for each victim. With up to four ranks each is a victim in turn; with more, the first,
/// the middle and the last rank. All ranks must conclude with the victim's "boom".
void each_victim(const Setting& setting, const std::function<void(Communicator&, int victim)>& body) {
  for (int victim = 0; victim < setting.ranks; ++victim) {
    if (setting.ranks > 4 && victim != 0 && victim != setting.ranks / 2 && victim != setting.ranks - 1) continue;
    SCOPED_TRACE("victim " + std::to_string(victim));
    std::string expected;
    std::mutex mutex;
    on_ranks(
        setting,
        [&](Communicator& ranks) {
          {
            const std::lock_guard lock(mutex);
            expected = reported(ranks, victim, "boom");
          }
          body(ranks, victim);
        },
        [&](const machinery::RankEnd& end) { EXPECT_EQ(end.conclusion, expected); });
  }
}

void sum(Communicator& ranks) {
  std::uint64_t value = 1;
  ranks.all_reduce_sum({&value, 1});
  EXPECT_EQ(value, static_cast<std::uint64_t>(ranks.size()));
}

TEST_P(CommFailure, before_any_collective_ends_all) {
  each_victim(GetParam(), [](Communicator& ranks, int victim) {
    if (ranks.rank() == victim) throw std::runtime_error("boom");
    for (;;) sum(ranks);
  });
}

TEST_P(CommFailure, while_others_wait_in_a_collective_ends_all) {
  each_victim(GetParam(), [](Communicator& ranks, int victim) {
    for (int i = 0; i < 3; ++i) sum(ranks);
    if (ranks.rank() == victim) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      throw std::runtime_error("boom");
    }
    sum(ranks);  // may succeed, because not every rank waits for the victim
    for (;;) ranks.gather(Bytes(5000));
  });
}

TEST_P(CommFailure, of_a_rank_is_noticed_by_check) {
  each_victim(GetParam(), [](Communicator& ranks, int victim) {
    if (ranks.rank() == victim) return ranks.fail("boom");
    wait_until(ranks, [] { return false; });
  });
}

TEST_P(CommFailure, wakes_threads_that_wait_elsewhere) {
  each_victim(GetParam(), [](Communicator& ranks, int victim) {
    std::atomic<bool> woken{false};
    ranks.on_failure([&] { woken = true; });
    if (ranks.rank() == victim) ranks.fail("boom");
    while (!woken) {
      if (!ranks.progress()) std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    woken = false;
    // A function that is set after the failure is called at once.
    ranks.on_failure([&] { woken = true; });
    EXPECT_TRUE(woken);
    ranks.on_failure({});
  });
}

/// The exchange fails with receives posted and with messages under way. After drain() nothing uses their memory any
/// more.
TEST_P(CommFailure, in_the_middle_of_an_exchange_frees_the_memory) {
  each_victim(GetParam(), [](Communicator& ranks, int victim) {
    constexpr std::size_t kBlock = kSanitized ? 20'000 : 200'000;
    constexpr std::size_t kCredits = 2;
    const int data_tag = ranks.take_tags(2);
    const int credit_tag = data_tag + 1;
    struct Stream {
      std::array<Bytes, kCredits> in;
      Bytes out;
      std::array<std::byte, 1> credit_in{};
      std::array<std::byte, 1> credit_out{};
      std::function<void()> send;
      std::function<void()> expect_credit;
      std::function<void(Bytes&)> expect_block;
    };
    std::vector<Stream> streams(static_cast<std::size_t>(ranks.size()));
    std::atomic<int> arrived{0};
    for (int other = 0; other < ranks.size(); ++other) {
      if (other == ranks.rank()) continue;
      Stream& stream = streams[static_cast<std::size_t>(other)];
      stream.out = pattern(kBlock, 3);
      // A credit is sent for each posted block, and a block answers each credit. This never ends by itself.
      stream.send = [&, other] { ranks.send(other, data_tag, stream.out, [] {}); };
      stream.expect_credit = [&, other] {
        ranks.receive(other, credit_tag, stream.credit_in, [&](std::size_t) {
          stream.expect_credit();
          stream.send();
        });
      };
      stream.expect_credit();
      stream.expect_block = [&, other](Bytes& block) {
        ranks.receive(other, data_tag, block, [&](std::size_t bytes) {
          EXPECT_EQ(bytes, kBlock);
          ++arrived;
          stream.expect_block(block);
        });
        ranks.send(other, credit_tag, stream.credit_out, [] {});
      };
      for (Bytes& block : stream.in) {
        block.resize(kBlock);
        stream.expect_block(block);
      }
    }
    try {
      if (ranks.rank() == victim) {
        if (ranks.size() > 1) wait_until(ranks, [&] { return arrived >= 1; });
        ranks.fail("boom");
      }
      wait_until(ranks, [] { return false; });
    } catch (const PeerFailed&) {
      ranks.drain();
      // AddressSanitizer and the contents show whether anything still writes to them.
      for (Stream& stream : streams)
        for (Bytes& block : stream.in) block.assign(block.size(), std::byte{0x55});
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      for (Stream& stream : streams)
        for (const Bytes& block : stream.in) EXPECT_TRUE(block == Bytes(block.size(), std::byte{0x55}));
      streams.clear();
      throw;
    }
  });
}

TEST_P(CommFailure, while_combining_ends_all) {
  if (GetParam().ranks == 1) return;  // nothing to combine
  on_ranks(
      GetParam(),
      [](Communicator& ranks) {
        ranks.all_reduce({}, [&](const Bytes& low, const Bytes&) -> Bytes {
          if (ranks.rank() == 0) throw std::runtime_error("boom");
          return low;
        });
      },
      [&](const machinery::RankEnd& end) { EXPECT_TRUE(end.conclusion.ends_with("): boom")) << end.conclusion; });
}

TEST_P(CommFailure, the_first_of_several_is_reported) {
  on_ranks(
      GetParam(),
      [](Communicator& ranks) {
        sum(ranks);
        // All ranks use rank 0's folder. It disappears once rank 0 has seen the file in it.
        const io::test::Scratch own;
        const std::string folder = path_for_all(own.path(), ranks);
        const std::string sign = folder + "/failed";
        if (ranks.rank() == ranks.size() - 1) {
          ranks.fail("boom");
          return static_cast<void>(std::ofstream(sign));
        }
        // This rank fails much later on the common clock, whether or not it knows of the first failure.
        while (std::filesystem::exists(folder) && !std::filesystem::exists(sign))
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        // Clocks agree to within a round trip.
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        ranks.fail("me too");
      },
      [](const machinery::RankEnd& end) { EXPECT_TRUE(end.conclusion.ends_with("boom")) << end.conclusion; });
}

TEST_P(CommFailure, long_messages_are_reported_whole) {
  const std::string text(5000, 'x');
  on_ranks(
      GetParam(),
      [&](Communicator& ranks) {
        if (ranks.rank() == ranks.size() - 1) throw std::runtime_error(text);
        for (;;) sum(ranks);
      },
      [&](const machinery::RankEnd& end) { EXPECT_TRUE(end.conclusion.ends_with(text)); });
}

/// The messages are so short that Open MPI checks their length before it writes. It never checks the length of a
/// message from a rank to itself, so one rank alone is not tested.
TEST_P(CommFailure, a_message_longer_than_expected_is_an_error) {
  if (GetParam().ranks == 1) return;
  on_ranks(
      GetParam(),
      [](Communicator& ranks) {
        const int tag = ranks.take_tags(1);
        Bytes out(1000);
        Bytes in(999);
        ranks.receive((ranks.rank() + ranks.size() - 1) % ranks.size(), tag, in, [](std::size_t) { ADD_FAILURE(); });
        ranks.send((ranks.rank() + 1) % ranks.size(), tag, out, [] {});
        try {
          wait_until(ranks, [] { return false; });
        } catch (const PeerFailed&) {
          ranks.drain();
          throw;
        }
      },
      [](const machinery::RankEnd& end) {
        EXPECT_NE(end.conclusion.find("longer than the 999 bytes"), std::string::npos);
      });
}

TEST_P(CommFailure, receives_without_a_message_do_not_delay_the_end) {
  on_ranks(GetParam(), [](Communicator& ranks) {
    const int tag = ranks.take_tags(1);
    static std::array<std::byte, 8> never{};
    for (int other = 0; other < ranks.size(); ++other)
      ranks.receive(other, tag, never, [](std::size_t) { ADD_FAILURE(); });
    sum(ranks);
  });
}

}  // namespace

}  // namespace hetsort::comm::test
