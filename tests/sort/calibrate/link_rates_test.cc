// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Real transfers between ranks of one process.
#include "sort/calibrate/link_rates.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/machinery/in_process.h"
#include "tests/sort/inputs.h"

namespace hetsort::sort::test {
namespace {

TEST(TransferFlows, arrive_at_once_and_are_timed_by_their_receivers) {
  const std::vector<Flow> flows{{0, 1, 3'000'000}, {1, 0, 1}, {2, 0, std::uint64_t{1} << 18}, {0, 3, 700'000}};
  for (const comm::ExchangeMode mode :
       {comm::ExchangeMode::kInline, comm::ExchangeMode::kThread, comm::ExchangeMode::kThreads}) {
    machinery::InProcessOptions options;
    options.communicator.mode = mode;
    machinery::run_ranks(4, test::test_seed(), options, [&](comm::Communicator& ranks) {
      const int tag = ranks.take_tags(2);
      for (int round = 0; round < 3; ++round) {
        const std::vector<FlowTime> times = transfer_flows(ranks, tag, flows).flows;
        ASSERT_EQ(times.size(), flows.size());
        for (std::size_t i = 0; i < flows.size(); ++i) {
          EXPECT_EQ(times[i].all > 0, flows[i].to == ranks.rank()) << i;
          EXPECT_EQ(times[i].half > 0, flows[i].to == ranks.rank()) << i;
          EXPECT_LE(times[i].half, times[i].all) << i;
        }
      }
    });
  }
}

TEST(TransferFlows, do_not_fill_the_memory_of_a_slow_receiver) {
  machinery::InProcessOptions options;
  options.longest_delay_microseconds = 3000;
  options.rendezvous = 0;  // all messages leave at once
  std::atomic<const comm::Communicator*> sender{nullptr};
  std::int64_t most_behind = 0;
  machinery::run_ranks(2, test::test_seed(), options, [&](comm::Communicator& ranks) {
    const int tag = ranks.take_tags(2);
    if (ranks.rank() == 0) sender = &ranks;
    ranks.barrier();
    std::atomic<bool> is_over{false};
    std::thread watch([&] {
      while (ranks.rank() == 1 && !is_over) {
        // A message is counted as sent once that is complete, which may be after its arrival.
        const auto received = static_cast<std::int64_t>(ranks.bytes_received());
        most_behind = std::max(most_behind, static_cast<std::int64_t>(sender.load()->bytes_sent()) - received);
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    });
    transfer_flows(ranks, tag, {{0, 1, 8'000'000}});
    is_over = true;
    watch.join();
    ranks.barrier();
  });
  // `received` is read first, so that a message more may have come and gone meanwhile.
  EXPECT_GT(most_behind, 0);
  EXPECT_LT(most_behind, std::int64_t{2} << 20);
}

}  // namespace
}  // namespace hetsort::sort::test
