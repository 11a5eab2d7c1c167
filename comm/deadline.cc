// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/deadline.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "comm/engine/abort_action.h"

namespace hetsort::comm {

namespace {

/// Time is counted in steps, so that a stop of the process counts as one step.
constexpr std::chrono::milliseconds kStep{50};

}  // namespace

double turn_seconds(int place) { return std::clamp(2.0 * place, 0.0, 10.0); }

Deadline::Deadline(double seconds, std::string text, Action action)
    : watcher_([this, seconds, action, text = std::move(text)] { watch(seconds, text, action); }) {}

Deadline::~Deadline() {
  met_ = true;
  event_.signal();
  watcher_.join();
}

void Deadline::watch(double seconds, const std::string& text, Action action) {
  const double steps = seconds / std::chrono::duration<double>(kStep).count();
  for (double step = 0; step < steps; ++step) {
    event_.sleep(kStep);
    if (met_) return;
  }
  const std::string line = "hetsort: " + text + "\n";
  if (!text.empty()) static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
  if (action == Action::kReport) return;
  run_abort_action();
  std::_Exit(kErrorExit);
}

}  // namespace hetsort::comm
