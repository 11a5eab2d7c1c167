// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A time limit for calls that wait for all ranks and that cannot be interrupted: those that start and end MPI.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "comm/base/event.h"

namespace hetsort::comm {

/// The exit code of a rank that failed.
inline constexpr int kErrorExit = 2;

/// Seconds that a rank waits before it reports what several ranks notice at the same time. The first rank reports it
/// and ends the job, before the next rank's turn comes; a launcher on a loaded host needs more than a second for that.
double turn_seconds(int place);

/// What is printed while there is still time.
struct DeadlineNote {
  double after_seconds = 0;
  std::string text{};  ///< empty = none
};

class Deadline {
 public:
  /// If this object still lives after `seconds`, prints "hetsort: `text`", runs the abort action (abort_action.h) and
  /// ends the process with exit code 2. `seconds` may be infinite. Time in which the process was stopped does not
  /// count.
  Deadline(double seconds, std::string text, DeadlineNote note = {});
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  ~Deadline();

 private:
  void watch(double seconds, const std::string& text, const DeadlineNote& note);

  std::atomic<bool> met_{false};
  Event event_;
  std::thread watcher_;
};

}  // namespace hetsort::comm
