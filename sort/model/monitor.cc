// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/model/monitor.h"

#include <utility>

#include "sort/machine/processor_quota.h"

namespace hetsort::sort {

void Monitor::begin_phase(const std::string& name, double weight) {
  const double now = seconds();
  {
    const std::lock_guard lock(mutex_);
    end_phase(now);
    phases_.push_back({name, now, 0});
    processor_before_ = processor_seconds();
  }
  weight_ = weight;
  if (stop_.stop_requested()) throw Cancelled();
}

void Monitor::ignore_stops() {
  if (too_late_) too_late_();
  if (stop_.stop_requested()) throw Cancelled();
  stop_ = {};
}

void Monitor::end_phases() {
  const double now = seconds();
  const std::lock_guard lock(mutex_);
  end_phase(now);
}

void Monitor::end_phase(double now) {
  if (phases_.empty() || phases_.back().end != 0) return;
  phases_.back().end = now;
  phases_.back().processor_seconds = processor_seconds() - processor_before_;
}

void Monitor::plan_work(std::uint64_t total_bytes) {
  const double now = seconds();
  const std::lock_guard lock(mutex_);
  total_ = total_bytes;
  work_began_ = now;
  *done_ = 0;
}

void Monitor::know_total(std::uint64_t total_bytes) {
  const std::lock_guard lock(mutex_);
  total_ = total_bytes;
}

Monitor::Progress Monitor::progress() const {
  const double now = seconds();
  const std::uint64_t others = others_ ? others_() : 0;
  const std::lock_guard lock(mutex_);
  if (phases_.empty()) return {};
  return {phases_.back().name, done_->load() + others, total_, now - work_began_};
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
      begin_(monitor_ ? monitor.seconds() : 0) {
  if (monitor_ != nullptr) outer_ = std::exchange(current(), this);
}

Monitor::Activity::~Activity() {
  if (monitor_ == nullptr) return;
  current() = outer_;
  monitor_->record({name_, thread_, begin_, monitor_->seconds()});
}

Monitor::Activity*& Monitor::current() {
  static thread_local Activity* activity = nullptr;
  return activity;
}

double Monitor::begin_step() { return current() == nullptr ? -1 : current()->monitor_->seconds(); }

void Monitor::end_step(const char* name, double begin) {
  const Activity* const activity = current();
  if (activity == nullptr || begin < 0) return;
  activity->monitor_->record({name, activity->thread_, begin, activity->monitor_->seconds()});
}

Monitor::Wait::~Wait() {
  constexpr double kMinSeconds = 5e-5;
  if (begin_ >= 0 && begin_step() - begin_ >= kMinSeconds) end_step(name_, begin_);
}

void Monitor::record(const TraceEvent& event) {
  const std::lock_guard lock(mutex_);
  events_.push_back(event);
}

}  // namespace hetsort::sort
