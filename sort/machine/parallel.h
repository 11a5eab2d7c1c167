// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Work on a fixed number of threads.
//
// Workers that wait for messages and for each other are plain threads. Tasks that do not run on oneTBB, if the system
// lets its pool start. Otherwise that would end the process, and fewer threads do the work.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>

namespace hetsort::sort {

/// Set when a worker failed. Workers check it in long loops and end early.
using StopFlag = std::atomic<bool>;

/// Thrown by a worker that ends because another one failed; never reaches the caller of run_workers().
struct Stopped {};

/// Calls work(worker, stop) once for each worker = 0 .. workers - 1, on up to that many threads including the caller's,
/// and waits. If the system refuses threads, some calls run one after another in ascending order: no worker may wait
/// for a later one. If a call throws, `stop` is set, and the first exception is rethrown after all calls have ended.
void run_workers(std::size_t workers, const std::function<void(std::size_t, const StopFlag&)>& work);

/// Calls work(task, seat, stop) once for each task = 0 .. tasks - 1, on up to `threads` threads, and waits. No two
/// calls at the same time have the same seat, which is less than `threads`. A task may not wait for another one.
/// Exceptions are those of run_workers().
void run_tasks(std::size_t tasks, std::size_t threads,
               const std::function<void(std::size_t, std::size_t, const StopFlag&)>& work);

/// Calls `work` in an arena of oneTBB with `threads` threads, the caller's among them, and returns true. Returns false
/// if that many cannot be started now, or if there is only one.
bool run_in_arena(std::size_t threads, const std::function<void()>& work);

/// Calls `work` on a thread of its own. If the system refuses the thread, calls it here and returns no thread.
std::jthread run_in_background(const std::function<void()>& work);

/// While it lives, run_workers() and run_tasks() of the thread that made it make all calls on this thread, one after
/// the other, as if the system refused more threads: for simulations of more threads than a machine can have.
class OneThread {
 public:
  OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;
  ~OneThread();
};

/// Whether the system lets this process start `count` more threads now.
bool can_start_threads(std::size_t count);

}  // namespace hetsort::sort
