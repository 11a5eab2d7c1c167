// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/exchange/thread_ranges.h"

#include <chrono>
#include <thread>
#include <utility>

#include "sort/model/monitor.h"

namespace hetsort::sort {

namespace {

// The time between two requests of a thread that got no range. It is short beside the time that a range takes.
constexpr double kPauseSeconds = 0.02;

}  // namespace

void ThreadRanges::ask(std::uint64_t merged, double idle_seconds) {
  asked_ = true;
  const double busy = since_begin_.seconds() - idle_seconds - job_.streams->waited_seconds();
  const auto [from, seconds] = job_.streams->take_longest_wait();
  dealer_.ask(job_.thread, {.merged = merged,
                            .busy_seconds = busy,
                            .wants_range = !next_,
                            .copying = job_.copying(),
                            .waited_for = static_cast<std::uint64_t>(from),
                            .waited_seconds = seconds});
}

void ThreadRanges::accept(const RangeAnswer& answer) {
  asked_ = false;
  since_refused_.reset();
  if (answer.kind == RangeAnswer::Kind::kLater && !next_) since_refused_.emplace();
  if (answer.kind == RangeAnswer::Kind::kNone) ended_ = true;
  if (answer.kind == RangeAnswer::Kind::kCopy) job_.copy(answer.number);
  if (answer.kind != RangeAnswer::Kind::kRange) return;
  job_.streams->add_part(job_.thread, answer.number, job_.begin_range(answer.number));
  next_ = answer.number;
}

void ThreadRanges::prepare_next() {
  if (!next_) talk();
}

void ThreadRanges::talk() {
  if (ended_) return;
  if (!asked_ && (!since_refused_ || since_refused_->seconds() > kPauseSeconds)) {
    const double part = job_.streams->fraction_of_part() * static_cast<double>(job_.records(range_));
    ask(merged_ + static_cast<std::uint64_t>(part), idle_seconds_);
  }
  if (!asked_) return;
  const std::optional<RangeAnswer> answer = dealer_.take(job_.thread);
  if (!answer) return;
  const io::Stopwatch watch;
  accept(*answer);
  idle_seconds_ += watch.seconds();  // copying is no merging
}

bool ThreadRanges::next(const StopFlag& stop) {
  merged_ += job_.records(range_);
  const double begin = since_begin_.seconds();
  const Monitor::Wait wait("wait for a range");
  bool is_first = true;
  while (!next_ && !ended_) {
    if (stop) throw Stopped();
    if (!asked_ && !std::exchange(is_first, false) && since_refused_)
      std::this_thread::sleep_for(std::chrono::duration<double>(kPauseSeconds));
    if (!asked_) ask(merged_, idle_seconds_ + since_begin_.seconds() - begin);
    accept(dealer_.await(job_.thread));
  }
  idle_seconds_ += since_begin_.seconds() - begin;
  if (!next_) return false;
  range_ = *std::exchange(next_, std::nullopt);
  job_.streams->next_part();
  return true;
}

}  // namespace hetsort::sort
