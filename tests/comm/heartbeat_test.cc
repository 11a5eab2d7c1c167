// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests which peer counts as silent for too long, with a clock that the test sets.
#include "comm/engine/heartbeat.h"

#include <gtest/gtest.h>

#include "comm/base/deadline.h"

namespace hetsort::comm::test {

namespace {

using std::chrono::milliseconds;

class HeartbeatOfRank0 : public ::testing::Test {
 protected:
  std::optional<Heartbeat::Silence> judge_after(milliseconds passed) { return heartbeat_.judge(now_ += passed); }

  static constexpr milliseconds kHalfABeat{500};
  Clock::time_point now_ = Clock::now();
  Heartbeat heartbeat_{{1, 2}, -1, {ExchangeMode::kThread, 2, 1}};
};

TEST_F(HeartbeatOfRank0, names_the_silent_rank_and_its_last_phase_once) {
  heartbeat_.heard(1, "form_runs", 40);
  heartbeat_.heard(2, "exchange", 2);
  EXPECT_EQ(heartbeat_.work_of_peers(), 42U);
  judge_after(milliseconds(0));
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(judge_after(kHalfABeat)) << i;
    heartbeat_.heard(1, "form_runs");
  }
  const auto silence = judge_after(milliseconds(600));
  ASSERT_TRUE(silence);
  EXPECT_EQ(silence->rank, 2);
  EXPECT_EQ(silence->phase, "exchange");
  EXPECT_NEAR(silence->seconds, 2.1, 0.05);
  EXPECT_FALSE(judge_after(kHalfABeat));
}

TEST_F(HeartbeatOfRank0, time_in_which_this_rank_was_stopped_does_not_count) {
  judge_after(milliseconds(0));
  EXPECT_FALSE(judge_after(kHalfABeat));
  EXPECT_FALSE(judge_after(milliseconds(60'000)));  // while stopped, this rank could not receive signs of life
  EXPECT_FALSE(judge_after(kHalfABeat));
  EXPECT_FALSE(judge_after(kHalfABeat));
  EXPECT_TRUE(judge_after(milliseconds(600)));
}

TEST_F(HeartbeatOfRank0, frequent_looks_find_a_silent_rank_as_well) {
  heartbeat_.heard(1, "form_runs");
  heartbeat_.heard(2, "form_runs");
  judge_after(milliseconds(0));
  std::optional<Heartbeat::Silence> silence;
  int looks = 0;
  for (; !silence && looks < 1000; ++looks) silence = judge_after(milliseconds(5));
  ASSERT_TRUE(silence);
  EXPECT_NEAR(silence->seconds, 2, 0.1);
  EXPECT_NEAR(looks * 0.005, 2, 0.1);
}

TEST(HeartbeatAtTheStart, waits_longer_for_a_rank_that_was_never_heard) {
  CommunicatorOptions options{ExchangeMode::kThread, 2, 1};
  options.start_allowance_seconds = 3;
  Heartbeat heartbeat({1, 2}, -1, options);
  Clock::time_point now = Clock::now();
  heartbeat.judge(now);
  heartbeat.heard(1, "", 0);
  for (int i = 0; i < 9; ++i) {
    EXPECT_FALSE(heartbeat.judge(now += milliseconds(500))) << i;
    heartbeat.heard(1, "", 0);
  }
  const auto silence = heartbeat.judge(now += milliseconds(600));
  ASSERT_TRUE(silence);
  EXPECT_EQ(silence->rank, 2);
}

TEST(HeartbeatAtTheStart, gives_a_rank_that_was_heard_no_allowance) {
  CommunicatorOptions options{ExchangeMode::kThread, 2, 1};
  options.start_allowance_seconds = 3;
  Heartbeat heartbeat({1}, -1, options);
  Clock::time_point now = Clock::now();
  heartbeat.judge(now);
  heartbeat.heard(1, "", 0);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(heartbeat.judge(now += milliseconds(500))) << i;
  EXPECT_TRUE(heartbeat.judge(now += milliseconds(600)));
}

TEST_F(HeartbeatOfRank0, a_rank_that_ended_normally_is_not_missed) {
  heartbeat_.gone(1);
  heartbeat_.gone(2);
  judge_after(milliseconds(0));
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(judge_after(kHalfABeat));
}

TEST(HeartbeatOfOthers, judge_rank_0_in_turns_so_that_one_reports_it_and_ends_the_job) {
  const auto seconds_until_judged = [](int rank) {
    Clock::time_point now = Clock::now();
    Heartbeat heartbeat({0}, rank - 1, {ExchangeMode::kThread, 2, 1});
    heartbeat.judge(now);
    double seconds = 0;
    do {
      now += milliseconds(500);
      seconds += 0.5;
    } while (!heartbeat.judge(now) && seconds < 100);
    return seconds;
  };
  EXPECT_NEAR(seconds_until_judged(1), 2, 0.5);
  EXPECT_NEAR(seconds_until_judged(2), 2 + turn_seconds(1), 0.5);
  EXPECT_GE(turn_seconds(1), 1);
  EXPECT_NEAR(seconds_until_judged(5), 2 + turn_seconds(4), 0.5);
  EXPECT_LE(seconds_until_judged(8), 13);  // the turns do not grow without limit
}

}  // namespace

}  // namespace hetsort::comm::test
