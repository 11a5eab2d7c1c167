// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Work on a fixed number of TBB threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

namespace hetsort::sort {

/// Set when a worker failed; workers check it in long loops and end early.
using StopFlag = std::atomic<bool>;

/// Thrown by a worker that ends because another one failed; never reaches the caller of run_workers().
struct Stopped {};

/// Calls work(worker, stop) once for each worker = 0 .. workers - 1, on up to that many TBB threads, and waits. Calls
/// may run one after another: no worker may wait for a later one. If a call throws, `stop` is set, and the first
/// exception is rethrown after all calls have ended.
void run_workers(std::size_t workers, const std::function<void(std::size_t, const StopFlag&)>& work);

}  // namespace hetsort::sort
