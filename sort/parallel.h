// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Work shared by a fixed number of threads.
//
// Workers read, write and wait for messages, so they are plain threads. A pool of oneTBB would end the process when the
// system refuses it a thread; these go on with fewer.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>

namespace hetsort::sort {

/// Set when a worker failed; workers in long loops look at it and leave early.
using StopFlag = std::atomic<bool>;

/// Thrown by a worker that leaves because another one failed; never reaches the caller of run_workers.
struct Stopped {};

/// Calls work(worker, stop) for worker = 0 .. workers - 1, each once, on up to that many threads, the caller's among
/// them, and waits. Where the system gives fewer threads, calls run one after another in ascending order: no worker may
/// wait for a later one. When one throws, `stop` is set and the first exception is rethrown after all have ended.
void run_workers(std::size_t workers, const std::function<void(std::size_t, const StopFlag&)>& work);

/// Calls `work` on a thread of its own. Where the system refuses a thread, calls it at once and returns no thread.
std::jthread run_in_background(const std::function<void()>& work);

/// Whether the system gives this process so many further threads now.
bool can_start_threads(std::size_t count);

}  // namespace hetsort::sort
