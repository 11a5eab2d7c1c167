// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <limits>
#include <memory>

#include "tests/comm/harness.h"

namespace hetsort::comm::test {

namespace {

/// Messages between every two ranks, in both directions at once.
class Traffic {
 public:
  static constexpr int kTags = 2;
  static constexpr std::size_t kLarge = kSanitized ? 30'000 : 100'000;
  static constexpr std::array<std::size_t, 7> kSizes{0, 1, 777, 4096, kLarge / 5, kLarge, 100};

  explicit Traffic(Communicator& ranks) : ranks_(ranks), first_tag_(ranks.take_tags(kTags)) {}

  void start() {
    // For every second message, this rank posts the receive after its own send.
    for (std::size_t index = 0; index < kSizes.size(); ++index)
      for (int step = 0; step < ranks_.size(); ++step)
        for (int tag = 0; tag < kTags; ++tag) {
          const int other = (ranks_.rank() + step) % ranks_.size();
          if (index % 2 == 0) receive(other, tag, index);
          send(other, tag, index);
          if (index % 2 != 0) receive(other, tag, index);
        }
  }
  void finish() {
    wait_until(ranks_, [&] { return open_ == 0; });
  }
  void run() {
    start();
    finish();
  }
  std::uint64_t bytes_sent() const { return bytes_sent_; }
  std::uint64_t bytes_received() const { return bytes_received_; }

 private:
  std::size_t size_of(int from, int to, std::size_t index) const {
    // One pair also exchanges a very large message.
    if (index == 3 && from == 0 && to == ranks_.size() - 1) return 14 * kLarge;
    return kSizes.at((index + static_cast<std::size_t>(from * 3 + to)) % kSizes.size());
  }
  static std::uint64_t seed_of(int from, int to, int tag, std::size_t index) {
    return static_cast<std::uint64_t>(((from * 8 + to) * kTags + tag) * 100) + index + 1;
  }

  void send(int to, int tag, std::size_t index) {
    const auto bytes =
        std::make_shared<Bytes>(pattern(size_of(ranks_.rank(), to, index), seed_of(ranks_.rank(), to, tag, index)));
    bytes_sent_ += bytes->size();
    ++open_;
    ranks_.send(to, first_tag_ + tag, *bytes, [this, bytes] { --open_; });
  }

  void receive(int from, int tag, std::size_t index) {
    const auto into = std::make_shared<Bytes>(size_of(from, ranks_.rank(), index) + index % 2);
    ++open_;
    ranks_.receive(from, first_tag_ + tag, *into, [this, into, from, tag, index](std::size_t bytes) {
      EXPECT_EQ(bytes, size_of(from, ranks_.rank(), index));
      into->resize(bytes);
      EXPECT_TRUE(*into == pattern(bytes, seed_of(from, ranks_.rank(), tag, index)))
          << "message " << index << " of tag " << tag << " from rank " << from;
      bytes_received_ += bytes;
      --open_;
    });
  }

  Communicator& ranks_;
  const int first_tag_;
  std::atomic<int> open_{0};
  std::uint64_t bytes_sent_ = 0;
  std::atomic<std::uint64_t> bytes_received_{0};
};

using CommMessages = CommSuite;
INSTANTIATE_TEST_SUITE_P(All, CommMessages, ::testing::ValuesIn(settings()), setting_name);

TEST_P(CommMessages, arrive_whole_and_in_order_per_tag) {
  on_ranks(GetParam(), [](Communicator& ranks) {
    Traffic traffic(ranks);
    traffic.run();
  });
}

TEST_P(CommMessages, of_two_exchanges_do_not_mix) {
  on_ranks(GetParam(), [](Communicator& ranks) {
    Traffic first(ranks);
    Traffic second(ranks);
    // They do not mix even if ranks begin with different exchanges.
    (ranks.rank() % 2 == 0 ? first : second).start();
    (ranks.rank() % 2 == 0 ? second : first).start();
    first.finish();
    second.finish();
  });
}

TEST_P(CommMessages, pass_while_many_threads_make_progress) {
  on_ranks(GetParam(), [](Communicator& ranks) {
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
      threads.emplace_back([&] {
        while (!stop) {
          if (!ranks.progress()) std::this_thread::yield();
        }
      });
    Traffic traffic(ranks);
    traffic.run();
    std::uint64_t value = 1;
    ranks.all_reduce_sum({&value, 1});
    EXPECT_EQ(value, static_cast<std::uint64_t>(ranks.size()));
    stop = true;
    for (std::thread& thread : threads) thread.join();
  });
}

TEST_P(CommMessages, are_counted) {
  on_ranks(GetParam(), [](Communicator& ranks) {
    const std::uint64_t sent_before = ranks.bytes_sent();
    const std::uint64_t received_before = ranks.bytes_received();
    std::uint64_t nothing = 0;
    Traffic traffic(ranks);
    traffic.run();
    const std::uint64_t sent = ranks.bytes_sent() - sent_before;
    const std::uint64_t received = ranks.bytes_received() - received_before;
    EXPECT_GE(sent, traffic.bytes_sent());
    EXPECT_GE(received, traffic.bytes_received());
    // Control messages of the last collective may be among them.
    EXPECT_LE(sent, traffic.bytes_sent() + 4096);
    EXPECT_LE(received, traffic.bytes_received() + 4096);
    ranks.all_reduce_sum({&nothing, 1});
    if (ranks.mode() == ExchangeMode::kInline) {
      EXPECT_EQ(ranks.cpu_seconds(), 0);
    } else {
      EXPECT_GT(ranks.cpu_seconds(), 0);
    }
  });
}

/// The ranks form a ring: each callback forwards the token that arrived.
TEST_P(CommMessages, callbacks_may_send_and_receive) {
  on_ranks(GetParam(), [](Communicator& ranks) {
    constexpr int kRounds = 20;
    const int tag = ranks.take_tags(1);
    const int next = (ranks.rank() + 1) % ranks.size();
    const int previous = (ranks.rank() + ranks.size() - 1) % ranks.size();
    const std::array<std::byte, 1> token{};
    std::array<std::byte, 1> received{};
    std::atomic<int> sends{0};
    int receives = 0;
    std::atomic<bool> finished{false};
    const std::function<void()> pass = [&] { ranks.send(next, tag, token, [&] { ++sends; }); };
    const std::function<void()> expect = [&] {
      ranks.receive(previous, tag, received, [&](std::size_t) {
        if (++receives < kRounds) expect();
        if (ranks.rank() != 0 || receives < kRounds) pass();
        if (receives == kRounds) finished = true;
      });
    };
    expect();
    if (ranks.rank() == 0) pass();
    wait_until(ranks, [&] { return finished && sends == kRounds; });
  });
}

TEST_P(CommMessages, tags_end_with_the_transport) {
  on_ranks(GetParam(), [](Communicator& ranks) {
    const int first = ranks.take_tags(10);
    EXPECT_EQ(ranks.take_tags(1), first + 10);
    EXPECT_THROW(ranks.take_tags(std::numeric_limits<int>::max()), std::length_error);
    EXPECT_EQ(ranks.take_tags(1), first + 11);
  });
}

/// Messages move while a rank computes, except in inline mode.
TEST_P(CommMessages, move_while_a_rank_computes) {
  if (GetParam().mode == ExchangeMode::kInline) return;
  on_ranks(GetParam(), [](Communicator& ranks) {
    const int tag = ranks.take_tags(1);
    const int other = (ranks.rank() + 1) % ranks.size();
    Bytes out = pattern(1U << 20U, 1);
    Bytes in(1U << 20U);
    std::atomic<int> open{2};
    ranks.receive((ranks.rank() + ranks.size() - 1) % ranks.size(), tag, in, [&](std::size_t) { --open; });
    ranks.send(other, tag, out, [&] { --open; });
    const auto give_up = Communicator::Clock::now() + std::chrono::seconds(20);
    while (open > 0 && Communicator::Clock::now() < give_up) std::this_thread::yield();
    EXPECT_EQ(open, 0);
    EXPECT_TRUE(in == out);
  });
}

}  // namespace

}  // namespace hetsort::comm::test
