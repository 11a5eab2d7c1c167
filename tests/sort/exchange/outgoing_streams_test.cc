// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Rank 0 sends one stream to rank 1 and one to rank 2.
#include "sort/exchange/outgoing_streams.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "sort/exchange/incoming_streams.h"
#include "sort/model/exchange_block.h"
#include "tests/machinery/in_process.h"
#include "tests/sort/inputs.h"

namespace hetsort::sort::test {
namespace {

constexpr std::size_t kSentBytes = 100;  // a record
constexpr std::uint64_t kSentBlocks = 64;
constexpr std::uint64_t kSentCredits = 4;

/// A source that returns one block again and again.
class OneBlock : public BlockSource {
 public:
  explicit OneBlock(std::atomic<std::uint64_t>& of_first) : of_first_(of_first) {}
  std::size_t depth() const override { return kSentCredits; }
  std::span<std::byte> next(std::size_t stream) override {
    if (stream == 0) ++of_first_;
    std::vector<std::byte>& memory = memory_[stream][places_[stream]++ % kSentCredits];
    memory.resize(kSentBytes + kTrailerBytes);
    return std::span(memory).first(kSentBytes);
  }

 private:
  std::array<std::array<std::vector<std::byte>, kSentCredits>, 2> memory_;
  std::array<std::size_t, 2> places_{};
  std::atomic<std::uint64_t>& of_first_;
};

class StreamReceiver {
 public:
  StreamReceiver(comm::Communicator& ranks, int first_tag)
      : memory_(IncomingStreams::memory_needed(wire(first_tag))),
        streams_(ranks, {{.from = 0, .number = 0, .parts = {{kSentBlocks, kSentBlocks}}}}, memory_, wire(first_tag)) {}

  bool next() { return !streams_.next(0).empty(); }
  void finish() { streams_.finish(); }

 private:
  static IncomingStreams::Wire wire(int first_tag) {
    return {.first_tag = first_tag,
            .credit_tag = first_tag + 1,
            .block_bytes = kSentBytes,
            .record_bytes = kSentBytes,
            .progress = {},
            .credits = kSentCredits};
  }
  std::vector<std::byte> memory_;
  IncomingStreams streams_;
};

/// Until `some` counts `blocks`, or 10 s are over.
void wait_for(const std::atomic<std::uint64_t>& some, std::uint64_t blocks) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (some < blocks && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

struct Counts {
  std::atomic<std::uint64_t> sent{0};     // blocks to rank 1, received or not
  std::atomic<std::uint64_t> arrived{0};  // blocks of rank 2
};

/// `first(ranks, tag, counts)`: what rank 1 does.
template <typename First>
void send_to_both(const First& first) {
  machinery::InProcessOptions options;
  options.communicator.mode = comm::ExchangeMode::kThread;
  options.rendezvous = 1;
  Counts counts;
  machinery::run_ranks(3, test_seed(), options, [&](comm::Communicator& ranks) {
    const int tag = ranks.take_tags(2);
    if (ranks.rank() == 0) {
      OneBlock source(counts.sent);
      OutgoingStreams streams(ranks, source,
                              {{.to = 1, .number = 0, .parts = {{kSentBlocks, kSentBlocks}}},
                               {.to = 2, .number = 0, .parts = {{kSentBlocks, kSentBlocks}}}},
                              {tag, tag + 1, kSentCredits});
      streams.run();
    } else if (ranks.rank() == 1) {
      first(ranks, tag, counts);
    } else {
      StreamReceiver receiver(ranks, tag);
      while (receiver.next()) ++counts.arrived;
      receiver.finish();
    }
  });
  EXPECT_EQ(counts.arrived, kSentBlocks);
}

TEST(OutgoingStreams, a_stream_does_not_run_far_ahead_of_one_with_blocks_in_flight) {
  send_to_both([](comm::Communicator& ranks, int tag, const Counts& counts) {
    // Its blocks are in flight until it posts receives.
    constexpr std::uint64_t kMost = kSentCredits + 1;
    wait_for(counts.arrived, kMost);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(counts.arrived, kMost);
    StreamReceiver receiver(ranks, tag);
    while (receiver.next()) {
    }
    receiver.finish();
  });
}

TEST(OutgoingStreams, few_blocks_of_a_stream_are_in_flight_however_many_credits_it_has) {
  EXPECT_EQ(most_in_flight(kInitialCredits), kInitialCredits);
  EXPECT_EQ(most_in_flight(kMaxCredits), kMaxCredits / 4);
  send_to_both([](comm::Communicator& ranks, int tag, const Counts& counts) {
    wait_for(counts.sent, 2);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(counts.sent, 2);
    StreamReceiver receiver(ranks, tag);
    while (receiver.next()) {
    }
    receiver.finish();
  });
}

TEST(OutgoingStreams, a_stream_does_not_wait_for_one_whose_receiver_takes_nothing) {
  send_to_both([](comm::Communicator& ranks, int tag, const Counts& counts) {
    StreamReceiver receiver(ranks, tag);  // has room for the first blocks, and grants no more
    wait_for(counts.arrived, kSentBlocks);
    EXPECT_EQ(counts.arrived, kSentBlocks);
    while (receiver.next()) {
    }
    receiver.finish();
  });
}

}  // namespace
}  // namespace hetsort::sort::test
