// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/base/deadline.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace hetsort::comm::test {

namespace {

TEST(DeadlineDeathTest, notes_that_time_passes_and_then_ends_the_process) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto wait = [] {
    const Deadline deadline(0.3, "too late", {.after_seconds = 0.1, .text = "still waiting"});
    std::this_thread::sleep_for(std::chrono::seconds(60));
  };
  EXPECT_EXIT(wait(), testing::ExitedWithCode(kErrorExit), "^hetsort: note: still waiting\nhetsort: too late\n$");
}

TEST(DeadlineDeathTest, that_is_met_prints_nothing) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto meet = [] {
    { const Deadline deadline(600, "too late", {.after_seconds = 300, .text = "still waiting"}); }
    std::_Exit(0);
  };
  EXPECT_EXIT(meet(), testing::ExitedWithCode(0), "^$");
}

}  // namespace

}  // namespace hetsort::comm::test
