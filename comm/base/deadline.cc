// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/base/deadline.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "comm/base/abort_action.h"

namespace hetsort::comm {

namespace {

/// Time is counted in steps, so that a stop of the process counts as one step.
constexpr std::chrono::milliseconds kStep{50};

}  // namespace

double turn_seconds(int place) { return std::clamp(2.0 * place, 0.0, 10.0); }

Deadline::Deadline(double seconds, std::string text)
    : watcher_([this, seconds, text = std::move(text)] { watch(seconds, text); }) {}

Deadline::~Deadline() {
  met_ = true;
  event_.signal();
  watcher_.join();
}

void Deadline::watch(double seconds, const std::string& text) {
  const double steps = seconds / std::chrono::duration<double>(kStep).count();
  for (double step = 0; step < steps; ++step) {
    event_.sleep(kStep);
    if (met_) return;
  }
  const std::string line = "hetsort: " + text + "\n";
  static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
  run_abort_action();
  std::_Exit(kErrorExit);
}

}  // namespace hetsort::comm
