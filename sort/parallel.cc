// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/parallel.h"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace hetsort::sort {

namespace {

#if defined(__SANITIZE_THREAD__)
/// TBB is not built with ThreadSanitizer, which cannot see what TBB orders and reports its stacks when they are used
/// again. Plain threads take its place there.
void call_all(std::size_t workers, const std::function<void(std::size_t)>& call) {
  std::vector<std::jthread> threads;
  for (std::size_t worker = 1; worker < workers; ++worker) threads.emplace_back([&call, worker] { call(worker); });
  call(0);
}
#else
void call_all(std::size_t workers, const std::function<void(std::size_t)>& call) {
  const tbb::global_control enough(tbb::global_control::max_allowed_parallelism, workers);
  tbb::task_arena arena(static_cast<int>(workers));
  arena.execute([&] { tbb::parallel_for(std::size_t{0}, workers, call, tbb::simple_partitioner()); });
}
#endif

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

}  // namespace hetsort::sort
