// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/machine/parallel.h"

#include <exception>
#include <mutex>
#include <system_error>
#include <vector>

namespace hetsort::sort {

namespace {

void call_all(std::size_t workers, const std::function<void(std::size_t)>& call) {
  std::vector<std::jthread> threads;
  threads.reserve(workers);
  std::size_t next = 1;
  try {
    for (; next < workers; ++next) threads.emplace_back([&call, worker = next] { call(worker); });
  } catch (const std::system_error&) {
    // The system refuses more threads: this thread makes the remaining calls.
  }
  call(0);
  for (; next < workers; ++next) call(next);
}

}  // namespace

void run_workers(std::size_t workers, const std::function<void(std::size_t, const StopFlag&)>& work) {
  StopFlag stop{false};
  if (workers == 1) return work(0, stop);

  std::exception_ptr first;
  std::mutex mutex;
  call_all(workers, [&](std::size_t worker) {
    try {
      work(worker, stop);
    } catch (const Stopped&) {
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!first) first = std::current_exception();
      stop = true;
    }
  });
  if (first) std::rethrow_exception(first);
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
