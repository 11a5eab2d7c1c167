// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/bell.h"

#include <algorithm>

namespace hetsort::comm {

void Bell::ring() {
  {
    const std::lock_guard lock(mutex_);
    rung_ = true;
  }
  rung_here_.notify_all();
}

void Bell::sleep(Clock::duration longest) {
  std::unique_lock lock(mutex_);
  rung_here_.wait_for(lock, longest, [&] { return rung_; });
  rung_ = false;
}

Clock::duration Backoff::next() {
  const auto pause = std::clamp<Clock::duration>(slept_ / kPart, kShortest, kLongest);
  slept_ += pause;
  return pause;
}

}  // namespace hetsort::comm
