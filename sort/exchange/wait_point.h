// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a thread waits for messages without ever missing a failed rank.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

#include "comm/communicator.h"

namespace hetsort::sort {

/// Makes progress while somebody waits and returns whether there was any. Empty where threads of their own do.
using Help = std::function<bool()>;

class WaitPoint {
 public:
  explicit WaitPoint(comm::Communicator& ranks) : ranks_(ranks) {}
  WaitPoint(const WaitPoint&) = delete;
  WaitPoint& operator=(const WaitPoint&) = delete;
  /// Whoever notified last may still hold the mutex.
  ~WaitPoint() { const std::lock_guard lock(mutex_); }

  /// Guards whatever the conditions look at.
  std::mutex& mutex() { return mutex_; }
  /// Call with the mutex held, after a change: then nobody who was waiting may be gone before the call ends.
  void notify() { changed_.notify_all(); }
  /// For Communicator::on_failure().
  void wake() {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }

  /// Waits until `come()`, which is called with the mutex held, holds. Throws: PeerFailed.
  template <typename Come>
  void wait_until(const Come& come, const Help& help) {
    using std::chrono::microseconds;
    // A waiting thread burns under 2 % of a core with these, and 50 us steps 25 to 30 %.
    constexpr microseconds kShortestPause{20};
    constexpr microseconds kLongestPause{2000};
    microseconds pause = kShortestPause;
    std::unique_lock lock(mutex_);
    while (!come()) {
      ranks_.check();
      if (!help) {
        changed_.wait(lock, [&] { return come() || ranks_.failed(); });
        continue;
      }
      lock.unlock();
      const bool moved = help();
      lock.lock();
      pause = moved ? kShortestPause : std::min(2 * pause, kLongestPause);
      if (!moved) changed_.wait_for(lock, pause, come);
    }
  }

 private:
  comm::Communicator& ranks_;
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace hetsort::sort
