// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// How a thread sleeps until there is work.
//
// MPI wakes no thread when a message arrives, so a rank must poll, and many ranks on few processors would do little
// else. Therefore a rank that has sent a message also rings the receiver, if both are on one host: it sends an empty
// datagram to a socket on which the receiver sleeps. A ring carries no data and may be lost or false. The receiver then
// polls later or in vain.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "comm/base/types.h"

namespace hetsort::comm {

/// Where a thread can be rung.
struct BellAddress {
  std::uint64_t place = 0;   ///< the host and its network namespace; 0 if nobody can ring
  std::uint64_t number = 0;  ///< number of the socket, one of those of the place
};

/// Wakes one sleeping thread. Thread safety: sleep() and open_bell() from one thread, all else from any.
class Event {
 public:
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event();

  /// Lets other processes ring, if the system allows it. Call it before all other functions.
  void open_bell();
  /// Where this event can be rung.
  const BellAddress& bell() const { return bell_; }
  /// Rings another event. Requires: it is at the place of this one.
  void ring(const BellAddress& other) const;

  void signal();
  /// Sleeps until a signal or a ring, at most for `limit`. One that came before the sleep ends it too. Returns whether
  /// there was a ring.
  bool sleep(Clock::duration limit);

 private:
  bool sleep_on_socket(Clock::duration limit);
  void send_to(std::uint64_t number, std::size_t bytes) const;

  int socket_ = -1;
  BellAddress bell_;
  std::atomic<bool> asleep_{false};  // whether a signal must end a sleep on the socket
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> signalled_{false};
};

/// The sleeps of a thread that polls: they grow with the time that it has waited.
class Backoff {
 public:
  struct Limits {
    Clock::duration least;
    Clock::duration most;
    int part = 1;  ///< a pause is this part of the wait so far: 1/part
  };
  void reset() { slept_ = {}; }
  Clock::duration next(const Limits& limits);

 private:
  Clock::duration slept_{};
};

}  // namespace hetsort::comm
