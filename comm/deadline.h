// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A time limit for calls that wait for all ranks and that cannot be interrupted: those that start and end MPI.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "comm/transport/event.h"

namespace hetsort::comm {

/// The exit code of a rank that failed.
inline constexpr int kErrorExit = 2;

/// Seconds that a rank waits before it reports what several ranks notice at the same time. The first rank reports it
/// and ends the job, before the next rank's turn comes; a launcher on a loaded host needs more than a second for that.
double turn_seconds(int place);

class Deadline {
 public:
  enum class Action : std::uint8_t {
    kEnd,     ///< run the abort action (abort_action.h) and end the process with exit code 2
    kReport,  ///< only print
  };

  /// If this object still lives after `seconds`, prints "hetsort: `text`", unless `text` is empty, and does `action`.
  /// Time in which the process was stopped does not count.
  Deadline(double seconds, std::string text, Action action = Action::kEnd);
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  ~Deadline();

 private:
  void watch(double seconds, const std::string& text, Action action);

  std::atomic<bool> met_{false};
  Event event_;
  std::thread watcher_;
};

}  // namespace hetsort::comm
