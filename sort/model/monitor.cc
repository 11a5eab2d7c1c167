// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/model/monitor.h"

#include <algorithm>
#include <utility>

#include "sort/machine/processor_quota.h"

namespace hetsort::sort {

void Monitor::begin_phase(const std::string& name, double weight) {
  const double now = seconds();
  {
    const std::lock_guard lock(mutex_);
    end_phase(now);
    phases_.push_back({.name = name, .begin = now});
    waits_.emplace(now);
    idle_since_ = now;
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
  PhaseTime& phase = phases_.back();
  phase.end = now;
  phase.processor_seconds = processor_seconds() - processor_before_;
  const double whole = phase.end - phase.begin;
  const double needed = processors_ > 0 ? phase.processor_seconds / processors_ : 0;
  phase.worked_seconds = std::min(whole, std::max(whole - waits_->seconds(), needed));
  phase.waits = waits_->spans(phase.end);
  phase.waited_for = waits_->ranks();
}

void Monitor::begin_work() {
  const std::lock_guard lock(mutex_);
  ++workers_;
}

void Monitor::end_work() {
  const double now = seconds();
  const std::lock_guard lock(mutex_);
  --workers_;
  idle_since_ = now;
}

void Monitor::add_wait(double begin, double end, Role role, int rank) {
  const std::lock_guard lock(mutex_);
  if (!waits_) return;
  if (role == Role::kWorker)
    return waits_->add(begin, end, 1 / static_cast<double>(std::max<std::size_t>(1, workers_)), rank);
  if (workers_ == 0) waits_->add(std::max(begin, idle_since_), end, 1, rank);
}

void Monitor::wait_for_all(Clock::time_point begin, Clock::time_point end) {
  const double from = seconds_at(begin);
  const double to = seconds_at(end);
  if (to - from < kMinWaitSeconds) return;
  const std::lock_guard lock(mutex_);
  if (waits_) waits_->add(from, to, 1, Wait::kSomeRank);
}

void Monitor::plan_work(std::uint64_t total_bytes, std::uint64_t data_bytes) {
  const double now = seconds();
  const std::lock_guard lock(mutex_);
  total_ = total_bytes;
  data_ = data_bytes;
  work_began_ = now;
  *done_ = 0;
}

void Monitor::know_total(std::uint64_t total_bytes, std::uint64_t data_bytes) {
  const std::lock_guard lock(mutex_);
  total_ = total_bytes;
  data_ = data_bytes;
}

Monitor::Progress Monitor::progress() const {
  const double now = seconds();
  const std::uint64_t others = others_ ? others_() : 0;
  const std::lock_guard lock(mutex_);
  if (phases_.empty()) return {};
  const std::uint64_t done = done_->load() + others;
  return {phases_.back().name, total_ == 0 ? std::max(done, read_.load()) : done, total_, now - work_began_, data_};
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

Monitor::Activity::Activity(Monitor& monitor, std::size_t thread, const char* name, Role role)
    : monitor_(&monitor),
      thread_(thread),
      name_(name),
      role_(role),
      begin_(monitor.seconds()),
      outer_(std::exchange(current(), this)) {
  if (outer_ == nullptr && role_ == Role::kWorker) monitor_->begin_work();
}

Monitor::Activity::~Activity() {
  current() = outer_;
  if (outer_ == nullptr && role_ == Role::kWorker) monitor_->end_work();
  if (monitor_->trace_) monitor_->record({name_, thread_, begin_, monitor_->seconds()});
}

Monitor::Activity*& Monitor::current() {
  static thread_local Activity* activity = nullptr;
  return activity;
}

double Monitor::begin_step() {
  const Activity* const activity = current();
  return activity == nullptr || !activity->monitor_->trace_ ? -1 : activity->monitor_->seconds();
}

void Monitor::end_step(const char* name, double begin) {
  const Activity* const activity = current();
  if (activity == nullptr || begin < 0) return;
  activity->monitor_->record({name, activity->thread_, begin, activity->monitor_->seconds()});
}

Monitor::Wait::Wait(const char* name, std::optional<int> for_rank)
    : name_(name), for_rank_(for_rank), begin_(current() == nullptr ? -1 : current()->monitor_->seconds()) {}

Monitor::Wait::~Wait() {
  const Activity* const activity = current();
  if (activity == nullptr || begin_ < 0) return;
  Monitor& monitor = *activity->monitor_;
  const double end = monitor.seconds();
  if (end - begin_ < kMinWaitSeconds) return;
  if (for_rank_) monitor.add_wait(begin_, end, activity->role_, *for_rank_);
  if (monitor.trace_) monitor.record({name_, activity->thread_, begin_, end});
}

void Monitor::record(const TraceEvent& event) {
  const std::lock_guard lock(mutex_);
  events_.push_back(event);
}

}  // namespace hetsort::sort
