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

/// In one piece, so that lines of several processes do not mix.
void print(const std::string& text) {
  const std::string line = "hetsort: " + text + "\n";
  static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
}

}  // namespace

double turn_seconds(int place) { return std::clamp(2.0 * place, 0.0, 10.0); }

Deadline::Deadline(double seconds, std::string text, DeadlineNote note)
    : watcher_([this, seconds, text = std::move(text), note = std::move(note)] { watch(seconds, text, note); }) {}

Deadline::~Deadline() {
  met_ = true;
  event_.signal();
  watcher_.join();
}

void Deadline::watch(double seconds, const std::string& text, const DeadlineNote& note) {
  const double step_seconds = std::chrono::duration<double>(kStep).count();
  bool is_noted = note.text.empty();
  for (double passed = 0; passed < seconds; passed += step_seconds) {
    if (!is_noted && passed >= note.after_seconds) {
      print("note: " + note.text);
      is_noted = true;
    }
    event_.sleep(kStep);
    if (met_) return;
  }
  print(text);
  run_abort_action();
  std::_Exit(kErrorExit);
}

}  // namespace hetsort::comm
