// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The same work on several threads at once.
//
// These are plain threads: a pool of oneTBB ends the process when the system refuses it a thread (ulimit -u).
#pragma once

#include <functional>

namespace hetsort::gen {

/// `asked`, or for 0 the number of processors that this process may use; at least 1.
unsigned usable_threads(unsigned asked);

/// Calls `work` once on the caller's thread and on up to `threads` - 1 others, and returns when all calls have
/// returned. Where the system refuses a thread, fewer calls are made, so that each call must take the next part of the
/// whole until nothing is left. Throws: the first exception of `work`, after all calls have ended.
void run_on_threads(unsigned threads, const std::function<void()>& work);

}  // namespace hetsort::gen
