// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// How a thread sleeps until there is work.
#pragma once

#include <condition_variable>
#include <mutex>

#include "comm/base/types.h"

namespace hetsort::comm {

/// Wakes one sleeping thread. Thread safety: signal() from any thread, sleep() from one.
class Event {
 public:
  void signal();
  /// Sleeps until a signal, at most for `limit`. A signal that came before the sleep ends it too.
  void sleep(Clock::duration limit);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool signalled_ = false;
};

/// The sleeps of a thread that polls: they grow with the time that it has waited.
class Backoff {
 public:
  void reset() { slept_ = {}; }
  Clock::duration next();

 private:
  static constexpr std::chrono::microseconds kMinPause{20};
  static constexpr std::chrono::microseconds kMaxPause{2000};
  /// A message is noticed late by at most 1/8 of the wait for it. Doubling the pause would be too much: in a tree each
  /// rank waits for another that waits, delays add up, and consecutive reductions end up at 2 ms a hop.
  static constexpr int kPart = 8;
  Clock::duration slept_{};
};

}  // namespace hetsort::comm
