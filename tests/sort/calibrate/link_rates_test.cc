// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Real transfers between ranks of one process.
#include "sort/calibrate/link_rates.h"

#include <gtest/gtest.h>

#include "comm/in_process.h"
#include "tests/sort/inputs.h"

namespace hetsort::sort::test {
namespace {

TEST(TransferFlows, arrive_at_once_and_are_timed_by_their_receivers) {
  const std::vector<Flow> flows{{0, 1, 3'000'000}, {1, 0, 1}, {2, 0, std::uint64_t{1} << 18}, {0, 3, 700'000}};
  for (const comm::ExchangeMode mode :
       {comm::ExchangeMode::kInline, comm::ExchangeMode::kThread, comm::ExchangeMode::kThreads}) {
    comm::InProcessOptions options;
    options.communicator.mode = mode;
    comm::run_ranks(4, test::test_seed(), options, [&](comm::Communicator& ranks) {
      const int tag = ranks.take_tags(1);
      for (int round = 0; round < 3; ++round) {
        const std::vector<double> seconds = transfer_flows(ranks, tag, flows);
        ASSERT_EQ(seconds.size(), flows.size());
        for (std::size_t i = 0; i < flows.size(); ++i) EXPECT_EQ(seconds[i] > 0, flows[i].to == ranks.rank()) << i;
      }
    });
  }
}

}  // namespace
}  // namespace hetsort::sort::test
