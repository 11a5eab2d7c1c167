// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// An end for calls that wait for all ranks and that nothing else can end: those with which MPI starts and ends.
#pragma once

#include <atomic>
#include <string>
#include <thread>

#include "comm/bell.h"

namespace hetsort::comm {

/// With which a rank that failed ends.
inline constexpr int kErrorExit = 2;

/// Seconds that this one of several ranks who notice the same thing waits for the one before it: the first speaks and
/// ends the job, for which a launcher on a loaded host takes more than a second, before it is the next one's turn.
double turn_seconds(int place);

class Deadline {
 public:
  /// Ends the process with exit code 2 after saying "hetsort: `text`" when this object still lives after `seconds` in
  /// which the process itself was running. Files that have no name yet are removed.
  Deadline(double seconds, std::string text);
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  ~Deadline();

 private:
  void watch(double seconds, const std::string& text);

  std::atomic<bool> met_{false};
  Bell bell_;
  std::thread watcher_;
};

}  // namespace hetsort::comm
