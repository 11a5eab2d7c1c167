// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A moment's work for several threads, of which one is the caller.
#pragma once

#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "io/thread.h"

namespace hetsort::io {

/// Calls work(worker, workers) for each worker from 0 on, at the same time where the system has threads for them.
/// Rethrows one of the exceptions of `work` once all have ended.
template <typename Work>
void run_beside(std::size_t workers, const Work& work) {
  std::mutex mutex;
  std::exception_ptr failure;
  const auto run = [&](std::size_t worker) {
    try {
      work(worker, workers);
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(workers);
  std::size_t started = 0;
  try {
    for (; started + 1 < workers; ++started)
      threads.push_back(start_thread("works on compressed data", [&run, started] { run(started); }));
  } catch (const Error&) {  // the caller does the rest
  }
  for (; started < workers; ++started) run(started);
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace hetsort::io
