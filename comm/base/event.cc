// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/base/event.h"

#include <algorithm>

namespace hetsort::comm {

void Event::signal() {
  {
    const std::lock_guard lock(mutex_);
    signalled_ = true;
  }
  changed_.notify_all();
}

void Event::sleep(Clock::duration limit) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, limit, [&] { return signalled_; });
  signalled_ = false;
}

Clock::duration Backoff::next() {
  const auto pause = std::clamp<Clock::duration>(slept_ / kPart, kMinPause, kMaxPause);
  slept_ += pause;
  return pause;
}

}  // namespace hetsort::comm
