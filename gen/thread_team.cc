// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "gen/thread_team.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace hetsort::gen {

unsigned usable_threads(unsigned asked) {
  return asked != 0 ? asked : std::max(1U, std::thread::hardware_concurrency());
}

void run_on_threads(unsigned threads, const std::function<void()>& work) {
  std::mutex mutex;
  std::exception_ptr failure;
  const auto guarded = [&] {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> helpers;
    helpers.reserve(threads);
    try {
      for (unsigned i = 1; i < threads; ++i) helpers.emplace_back(guarded);
    } catch (const std::system_error&) {
      // The system refuses further threads: the existing ones do all of the work.
    }
    guarded();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace hetsort::gen
