// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// How a thread sleeps that has nothing to do just now.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "comm/communicator.h"

namespace hetsort::comm {

using Clock = Communicator::Clock;

/// Something to sleep on.
class Bell {
 public:
  void ring();
  /// Until it rings, at most this long; a ring before the sleep ends it too.
  void sleep(Clock::duration longest);

 private:
  std::mutex mutex_;
  std::condition_variable rung_here_;
  bool rung_ = false;
};

class Backoff {
 public:
  void reset() { slept_ = {}; }
  Clock::duration next();

 private:
  static constexpr std::chrono::microseconds kShortest{20};
  static constexpr std::chrono::microseconds kLongest{2000};
  /// A message is found at most this part of the wait for it late. Doubling (1) is too much: in a tree each rank waits
  /// for one that waits, delays feed on each other, and reductions one after another end up at 2 ms a hop.
  static constexpr int kPart = 8;
  Clock::duration slept_{};
};

}  // namespace hetsort::comm
