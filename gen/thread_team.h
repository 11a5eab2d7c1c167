// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The same work on several threads at once.
#pragma once

#include <functional>

namespace hetsort::gen {

/// `asked`, or for 0 as many threads as there are processors this process may use; at least 1.
unsigned usable_threads(unsigned asked);

/// Calls `work` once on the caller's thread and on up to `threads` - 1 others, and returns when all have returned.
/// Where the system gives fewer threads, fewer calls are made: `work` shares out what is to be done by itself. Throws:
/// the first exception of `work`, after all calls have ended.
void run_on_threads(unsigned threads, const std::function<void()>& work);

}  // namespace hetsort::gen
