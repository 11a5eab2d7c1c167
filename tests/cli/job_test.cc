// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "job/request/request.h"

namespace hetsort::cli::test {
namespace {

TEST(Job, signs_of_life_come_several_times_within_the_stall_timeout) {
  for (const double timeout : {1.0, 2.5, 60.0}) {
    const comm::CommunicatorOptions communication = job::communication_of({.stall_timeout_seconds = timeout});
    EXPECT_EQ(communication.stall_timeout_seconds, timeout);
    EXPECT_LE(communication.heartbeat_seconds, std::min(1.0, timeout / 4));
    EXPECT_GT(communication.heartbeat_seconds, 0.2);
  }
}

}  // namespace
}  // namespace hetsort::cli::test
