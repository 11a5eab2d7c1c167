// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/machine/parallel.h"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <system_error>
#include <vector>

namespace hetsort::sort {

namespace {

thread_local bool is_one_thread = false;

void call_all(std::size_t workers, const std::function<void(std::size_t)>& call) {
  std::vector<std::jthread> threads;
  threads.reserve(workers);
  std::size_t next = 1;
  try {
    for (; next < workers && !is_one_thread; ++next) threads.emplace_back([&call, worker = next] { call(worker); });
  } catch (const std::system_error&) {
    // The system refuses more threads: this thread makes the remaining calls.
  }
  call(0);
  for (; next < workers; ++next) call(next);
}

/// The first exception of several calls, which stops the others.
class FirstFailure {
 public:
  /// Calls work(stop).
  void guard(const std::function<void(const StopFlag&)>& work) {
    try {
      work(stop_);
    } catch (const Stopped&) {
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!first_) first_ = std::current_exception();
      stop_ = true;
    }
  }
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }
  bool stops() const { return stop_; }

 private:
  StopFlag stop_{false};
  std::exception_ptr first_;
  std::mutex mutex_;
};

// TBB is not built with ThreadSanitizer, which therefore reports false races in it.
#if defined(HETSORT_SANITIZE_THREAD)
constexpr bool kHasArena = false;
#else
constexpr bool kHasArena = true;
#endif

}  // namespace

void run_workers(std::size_t workers, const std::function<void(std::size_t, const StopFlag&)>& work) {
  if (workers == 1) return work(0, StopFlag{false});
  FirstFailure failure;
  call_all(workers, [&](std::size_t worker) { failure.guard([&](const StopFlag& stop) { work(worker, stop); }); });
  failure.rethrow();
}

void run_tasks(std::size_t tasks, std::size_t threads,
               const std::function<void(std::size_t, std::size_t, const StopFlag&)>& work) {
  if (tasks == 0) return;
  FirstFailure failure;
  const auto run = [&](std::size_t task, std::size_t seat) {
    if (!failure.stops()) failure.guard([&](const StopFlag& stop) { work(task, seat, stop); });
  };
  const bool ran = run_in_arena(threads, [&] {
    tbb::parallel_for(
        std::size_t{0}, tasks,
        [&](std::size_t task) { run(task, static_cast<std::size_t>(tbb::this_task_arena::current_thread_index())); },
        tbb::simple_partitioner());
  });
  if (!ran) {
    std::atomic<std::size_t> next{0};
    call_all(std::min(threads, tasks), [&](std::size_t seat) {
      for (std::size_t task = next++; task < tasks; task = next++) run(task, seat);
    });
  }
  failure.rethrow();
}

OneThread::OneThread() { is_one_thread = true; }

OneThread::~OneThread() { is_one_thread = false; }

bool run_in_arena(std::size_t threads, const std::function<void()>& work) {
  if (!kHasArena || is_one_thread || threads == 1 || !can_start_threads(threads - 1)) return false;
  const tbb::global_control enough(tbb::global_control::max_allowed_parallelism, threads);
  tbb::task_arena arena(static_cast<int>(threads));
  arena.execute(work);
  return true;
}

std::jthread run_in_background(const std::function<void()>& work) {
  try {
    return std::jthread(work);
  } catch (const std::system_error&) {
    work();
    return {};
  }
}

bool can_start_threads(std::size_t count) {
  std::atomic<bool> all_started{false};
  std::vector<std::jthread> threads;
  threads.reserve(count);
  const auto wait = [&all_started] { all_started.wait(false); };
  bool refused = false;
  try {
    while (threads.size() < count) threads.emplace_back(wait);
  } catch (const std::system_error&) {
    refused = true;
  }
  all_started = true;
  all_started.notify_all();
  return !refused;
}

}  // namespace hetsort::sort
