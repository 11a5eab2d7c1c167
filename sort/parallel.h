// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Work shared by a fixed number of TBB threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

namespace hetsort::sort {

/// Set when a worker failed; workers in long loops look at it and leave early.
using StopFlag = std::atomic<bool>;

/// Thrown by a worker that leaves because another one failed; never reaches the caller of run_workers.
struct Stopped {};

/// Calls work(worker, stop) for worker = 0 .. workers - 1, each once, on up to that many TBB threads, and waits. Calls
/// may run one after another: no worker may wait for a later one. When one throws, `stop` is set and the first
/// exception is rethrown after all have ended.
void run_workers(std::size_t workers, const std::function<void(std::size_t, const StopFlag&)>& work);

}  // namespace hetsort::sort
