// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/deadline.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "io/publish.h"

namespace hetsort::comm {

namespace {

/// Time is counted in steps: one in which the process was stopped counts as one.
constexpr std::chrono::milliseconds kStep{50};

}  // namespace

double turn_seconds(int place) { return std::clamp(2.0 * place, 0.0, 10.0); }

Deadline::Deadline(double seconds, std::string text)
    : watcher_([this, seconds, text = std::move(text)] { watch(seconds, text); }) {}

Deadline::~Deadline() {
  met_ = true;
  bell_.ring();
  watcher_.join();
}

void Deadline::watch(double seconds, const std::string& text) {
  const double steps = seconds / std::chrono::duration<double>(kStep).count();
  for (double step = 0; step < steps; ++step) {
    bell_.sleep(kStep);
    if (met_) return;
  }
  const std::string line = "hetsort: " + text + "\n";
  static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
  io::remove_unpublished_files();
  std::_Exit(kErrorExit);
}

}  // namespace hetsort::comm
