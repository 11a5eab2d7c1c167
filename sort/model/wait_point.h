// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Lets a thread wait for messages and also notice failed ranks.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <limits>
#include <mutex>

#include "comm/communicator.h"

namespace hetsort::sort {

/// Lets messages progress while a thread waits, and returns whether any did. Empty where other threads do that.
using Progress = std::function<bool()>;

/// What a waiting thread has to do in the mode of `ranks`.
inline Progress progress_of(comm::Communicator& ranks) {
  if (ranks.mode() != comm::ExchangeMode::kInline) return {};
  return [&ranks] { return ranks.progress(); };
}

class WaitPoint {
 public:
  explicit WaitPoint(comm::Communicator& ranks) : ranks_(ranks) {}
  WaitPoint(const WaitPoint&) = delete;
  WaitPoint& operator=(const WaitPoint&) = delete;
  /// Waits for a thread that is inside notify(): it holds the mutex.
  ~WaitPoint() { const std::lock_guard lock(mutex_); }

  /// The mutex that guards all data which the conditions of wait_until() read.
  std::mutex& mutex() { return mutex_; }
  /// Wakes the waiting thread to check its condition. Call it with the mutex held, so that the thread cannot destroy
  /// this object before the call ends.
  void notify() { changed_.notify_all(); }
  /// Wakes the waiting thread; for Communicator::on_failure().
  void wake() {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }

  /// Waits until condition(), which is called with the mutex held, is true. Throws: PeerFailed.
  template <typename Condition>
  void wait_until(const Condition& condition, const Progress& progress) {
    static_cast<void>(wait_until(condition, progress, kForever));
  }

  static constexpr std::chrono::duration<double> kForever{std::numeric_limits<double>::infinity()};
  /// Likewise, but for `most` seconds if messages progress by themselves. Returns whether the condition is true.
  template <typename Condition>
  bool wait_until(const Condition& condition, const Progress& progress, std::chrono::duration<double> most) {
    using std::chrono::microseconds;
    // Pauses that grow from 20 us to 2 ms take a waiting thread under 2 % of a core; constant pauses of 50 us take 25
    // to 30 %.
    constexpr microseconds kMinPause{20};
    constexpr microseconds kMaxPause{2000};
    microseconds pause = kMinPause;
    std::unique_lock lock(mutex_);
    while (!condition()) {
      ranks_.check();
      const auto ends = [&] { return condition() || ranks_.failed(); };
      if (!progress && most == kForever) {
        changed_.wait(lock, ends);
        continue;
      }
      if (!progress && !changed_.wait_for(lock, most, ends)) return false;
      if (!progress) continue;
      lock.unlock();
      const bool moved = progress();
      lock.lock();
      pause = moved ? kMinPause : std::min(2 * pause, kMaxPause);
      if (!moved) changed_.wait_for(lock, pause, condition);
    }
    return true;
  }

 private:
  comm::Communicator& ranks_;
  std::mutex mutex_;
  std::condition_variable changed_;
};

/// Calls `sleeper.wake()` when a rank fails, while it lives. Requires: the rank has one at a time.
class WakeOnFailure {
 public:
  template <typename Sleeper>
  WakeOnFailure(comm::Communicator& ranks, Sleeper& sleeper) : ranks_(ranks) {
    ranks_.on_failure([&sleeper] { sleeper.wake(); });
  }
  WakeOnFailure(const WakeOnFailure&) = delete;
  WakeOnFailure& operator=(const WakeOnFailure&) = delete;
  ~WakeOnFailure() { ranks_.on_failure({}); }

 private:
  comm::Communicator& ranks_;
};

}  // namespace hetsort::sort
