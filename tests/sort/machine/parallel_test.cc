// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/machine/parallel.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "tests/io/scratch.h"

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

TEST(OneThread, makes_all_calls_in_ascending_order) {
  const auto me = std::this_thread::get_id();
  std::vector<std::size_t> called;
  const auto call = [&](std::size_t number) {
    EXPECT_EQ(std::this_thread::get_id(), me);
    called.push_back(number);
  };
  {
    const OneThread one;
    run_workers(5, [&](std::size_t worker, const StopFlag&) { call(worker); });
    run_tasks(5, 3, [&](std::size_t task, std::size_t seat, const StopFlag&) {
      EXPECT_LT(seat, 3U);
      call(task);
    });
  }
  EXPECT_EQ(called, (std::vector<std::size_t>{0, 1, 2, 3, 4, 0, 1, 2, 3, 4}));
  std::atomic<int> elsewhere{0};
  run_workers(5, [&](std::size_t, const StopFlag&) { elsewhere += std::this_thread::get_id() != me; });
  EXPECT_EQ(elsewhere, 4);
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

/// What `action` returns as a user that may have `threads` threads, this one included.
template <typename Action>
int with_threads(std::size_t threads, const Action& action) {
  return io::test::in_child([&] {
    // Limits count all threads of a user. Root becomes a user of this test's own; for others the limit only gets
    // tighter.
    const auto user = static_cast<uid_t>(1'000'000'000 + ::getpid() % 1'000'000);
    const rlimit limit{threads, threads};
    if (::setrlimit(RLIMIT_NPROC, &limit) != 0) return 99;
    if (::geteuid() == 0 && (::setgid(user) != 0 || ::setuid(user) != 0)) return 99;
    return action();
  });
}

TEST(RunWorkers, fewer_threads_than_workers_make_all_calls) {
  for (const std::size_t allowed : {1U, 2U, 3U, 6U, 20U}) {
    // The most that work at the same time: a thread that ends early makes room for another.
    const int threads = with_threads(allowed, [] {
      std::mutex mutex;
      std::multiset<std::size_t> called;
      std::atomic<int> working{0};
      int most_working = 0;
      run_workers(8, [&](std::size_t worker, const StopFlag&) {
        const int now_working = ++working;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        --working;
        const std::lock_guard lock(mutex);
        called.insert(worker);
        most_working = std::max(most_working, now_working);
      });
      return called == std::multiset<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7} ? most_working : 98;
    });
    EXPECT_LE(threads, static_cast<int>(std::min<std::size_t>(allowed, 8)));
    EXPECT_GE(threads, 1);
  }
}

/// How often each of these tasks is called, and whether two calls had the same seat at the same time.
std::pair<std::vector<int>, bool> run_counted(std::size_t tasks, std::size_t threads) {
  std::vector<std::atomic<int>> calls(tasks);
  std::vector<std::atomic<bool>> taken(threads);
  std::atomic<bool> shared{false};
  run_tasks(tasks, threads, [&](std::size_t task, std::size_t seat, const StopFlag& stop) {
    if (taken.at(seat).exchange(true) || stop) shared = true;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    ++calls[task];
    taken[seat] = false;
  });
  return {{calls.begin(), calls.end()}, shared};
}

TEST(RunTasks, calls_each_task_once_and_shares_no_seat) {
  for (const std::size_t tasks : {0U, 1U, 3U, 40U})
    for (const std::size_t threads : {1U, 2U, 5U})
      EXPECT_EQ(run_counted(tasks, threads), std::pair(std::vector<int>(tasks, 1), false)) << tasks << " " << threads;
}

TEST(RunTasks, no_tasks_need_no_thread) { EXPECT_EQ(run_counted(0, 0), std::pair(std::vector<int>(), false)); }

TEST(RunTasks, needs_no_other_thread) {
  for (const std::size_t allowed : {1U, 2U})
    EXPECT_EQ(
        with_threads(allowed, [] { return run_counted(9, 4) == std::pair(std::vector<int>(9, 1), false) ? 0 : 1; }), 0);
}

TEST(RunTasks, ends_early_with_the_first_exception) {
  for (const std::size_t threads : {1U, 3U}) {
    std::atomic<int> begun{0};
    EXPECT_THROW(run_tasks(1000, threads,
                           [&](std::size_t, std::size_t, const StopFlag& stop) {
                             if (++begun == 1) throw std::runtime_error("first");
                             while (!stop) std::this_thread::yield();
                             throw Stopped{};
                           }),
                 std::runtime_error);
    EXPECT_LE(begun, static_cast<int>(threads));
  }
}

TEST(RunInBackground, without_a_thread_the_work_is_done_at_once) {
  EXPECT_EQ(with_threads(1,
                         [] {
                           bool done = false;
                           const std::jthread none = run_in_background([&done] { done = true; });
                           return done && !none.joinable() && !can_start_threads(1) ? 0 : 1;
                         }),
            0);
  std::atomic<bool> done{false};
  {
    const std::jthread thread = run_in_background([&done] { done = true; });
  }
  EXPECT_TRUE(done);
  EXPECT_TRUE(can_start_threads(2));
}

}  // namespace
}  // namespace hetsort::sort::test
