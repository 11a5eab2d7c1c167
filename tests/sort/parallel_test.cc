// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/parallel.h"

#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

namespace hetsort::sort::test {
namespace {

TEST(RunWorkers, calls_each_worker_once_and_waits_for_all) {
  for (const std::size_t workers : {1U, 2U, 3U, 8U, 64U}) {
    std::mutex mutex;
    std::multiset<std::size_t> called;
    run_workers(workers, [&](std::size_t worker, const StopFlag& stop) {
      EXPECT_FALSE(stop);
      const std::lock_guard lock(mutex);
      called.insert(worker);
    });
    ASSERT_EQ(called.size(), workers);
    std::size_t expected = 0;
    for (const std::size_t worker : called) EXPECT_EQ(worker, expected++);
  }
}

TEST(RunWorkers, the_caller_sees_what_workers_wrote) {
  for (int round = 0; round < 200; ++round) {
    std::vector<int> written(4, 0);
    run_workers(4, [&](std::size_t worker, const StopFlag&) { written[worker] = round + 1; });
    for (const int value : written) ASSERT_EQ(value, round + 1);
  }
}

TEST(RunWorkers, rethrows_the_first_exception_after_all_have_ended) {
  for (const std::size_t workers : {1U, 2U, 6U}) {
    std::atomic<std::size_t> running{0};
    try {
      run_workers(workers, [&](std::size_t worker, const StopFlag& stop) {
        if (worker == 0) throw std::runtime_error("first");
        ++running;
        // A worker may wait for an earlier one. Its own failure, caused by that of the earlier one, is dropped.
        while (!stop) std::this_thread::yield();
        --running;
        throw std::logic_error("second");
      });
      FAIL() << "no exception";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "first");
    }
    EXPECT_EQ(running, 0U);
  }
}

TEST(RunWorkers, a_worker_that_stops_is_not_a_failure) {
  EXPECT_THROW(run_workers(3,
                           [](std::size_t worker, const StopFlag& stop) {
                             if (worker == 0) throw std::runtime_error("stop");
                             while (!stop) std::this_thread::yield();
                             throw Stopped{};
                           }),
               std::runtime_error);
}

}  // namespace
}  // namespace hetsort::sort::test
