// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/monitor.h"

namespace hetsort::sort {

void Monitor::begin_phase(const std::string& name, std::uint64_t bytes) {
  const double now = seconds();
  {
    const std::lock_guard lock(mutex_);
    if (!phases_.empty() && phases_.back().end == 0) phases_.back().end = now;
    phases_.push_back({name, now, 0});
    total_ = bytes;
    done_ = 0;
  }
  if (stop_.stop_requested()) throw Cancelled();
  if (phase_handler_) phase_handler_(name);
}

void Monitor::end_phases() {
  const double now = seconds();
  const std::lock_guard lock(mutex_);
  if (!phases_.empty() && phases_.back().end == 0) phases_.back().end = now;
}

Monitor::Progress Monitor::progress() const {
  const double now = seconds();
  const std::lock_guard lock(mutex_);
  if (phases_.empty()) return {};
  return {phases_.back().name, done_.load(), total_, now - phases_.back().begin};
}

void Monitor::note(const std::string& text) {
  if (note_handler_) note_handler_(text);
}

std::vector<PhaseTime> Monitor::phases() const {
  const std::lock_guard lock(mutex_);
  return phases_;
}

std::vector<TraceEvent> Monitor::events() const {
  const std::lock_guard lock(mutex_);
  return events_;
}

Monitor::Activity::Activity(Monitor& monitor, std::size_t thread, const char* name)
    : monitor_(monitor.trace_ ? &monitor : nullptr),
      thread_(thread),
      name_(name),
      begin_(monitor_ ? monitor.seconds() : 0) {}

Monitor::Activity::~Activity() {
  if (monitor_ == nullptr) return;
  const double end = monitor_->seconds();
  const std::lock_guard lock(monitor_->mutex_);
  monitor_->events_.push_back({name_, thread_, begin_, end});
}

}  // namespace hetsort::sort
