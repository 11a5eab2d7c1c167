// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A rank falls silent while others wait for its messages. The job is aborted, and ranks that outlive this end with an
// exception: their messages' owners must not throw another one while it unwinds.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <thread>

#include "sort/exchange/scatter_input.h"
#include "sort/input/claimed_segments.h"
#include "tests/machinery/in_process.h"
#include "tests/sort/inputs.h"

namespace hetsort::sort::test {
namespace {

constexpr int kRanks = 3;

/// Runs `body` on three ranks, of which one stops.
void expect_silence(int stopped_rank, const machinery::RankBody& body) {
  machinery::InProcessOptions silent;
  silent.communicator.heartbeat_seconds = 0.1;
  silent.communicator.stall_timeout_seconds = 1.2;
  silent.stopped_rank = stopped_rank;
  silent.stopped_after_sends = 60;
  testing::internal::CaptureStderr();
  const std::vector<machinery::RankEnd> ends = machinery::try_ranks(kRanks, test_seed(), silent, body);
  const std::string error = testing::internal::GetCapturedStderr();
  EXPECT_NE(error.find("silent for 1 s in phase form_runs: stalled or unreachable"), std::string::npos) << error;
  for (const machinery::RankEnd& end : ends) EXPECT_NE(end.message, "");
}

TEST(SilentRank, ends_ranks_that_claim_their_input) {
  for (const int stopped : {0, 1})
    expect_silence(stopped, [](comm::Communicator& ranks) {
      constexpr std::uint64_t kRecords = 1'000'000;
      ranks.set_phase("form_runs");
      for (;;) {
        ClaimedSegments claims({kRecords, 1, 1, {}}, ranks);
        claims.start(kRecords,
                     [](std::span<const std::uint64_t> capacities) { return plan_claims({}, kRecords, capacities); });
        while (claims.next()) continue;
        ranks.barrier();
      }
    });
}

TEST(SilentRank, ends_ranks_that_receive_their_input) {
  expect_silence(0, [](comm::Communicator& ranks) {
    ranks.set_phase("form_runs");
    constexpr int kTags = 2;
    const int tag = ranks.take_tags(kTags);
    ranks.barrier();
    if (ranks.rank() != 0) {
      ScatteredInput input(ranks, 1000, 100, tag);
      std::array<std::byte, 100> record{};
      input.read(record);
    }
    for (;; std::this_thread::sleep_for(std::chrono::milliseconds(1))) ranks.check();
  });
}

}  // namespace
}  // namespace hetsort::sort::test
