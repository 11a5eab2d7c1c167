// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Signals between rank 0 and the others: signs of life, failures, clocks.
#include <utility>

#include "comm/bytes.h"
#include "comm/engine.h"

namespace hetsort::comm {

namespace {

/// The text of a failure that travels at once; all of it is told in the end.
constexpr std::size_t kFailureTextBytes = 1024;

}  // namespace

void Communicator::Engine::signal(int to, Signal kind, const Bytes& bytes) {
  Bytes message;
  append_value(message, kind);
  append(message, bytes);
  signals_->post(to, message);
}

void Communicator::Engine::on_signal(int from, const Bytes& bytes) {
  if (bytes.empty()) {
    heartbeat_->gone(from);
    return driver_.notify();
  }
  constexpr std::size_t kBody = sizeof(Signal);
  switch (value_at<Signal>(bytes, 0)) {
    case Signal::kAlive:
      return heartbeat_->heard(from, std::string(text_from(bytes, kBody)));
    case Signal::kFailed:
      return learn(decode_failure(bytes, kBody));
    case Signal::kAskClock: {
      Bytes answer;
      append_value(answer, job_nanoseconds());
      return signal(from, Signal::kTellClock, answer);
    }
    case Signal::kTellClock: {
      {
        const std::lock_guard lock(driver_.mutex());
        clock_told_.emplace_back(Clock::now(), value_at<std::int64_t>(bytes, kBody));
      }
      return driver_.notify();
    }
  }
}

void Communicator::Engine::pulse() {
  if (!open_) return;
  const auto now = Clock::now();
  if (heartbeat_->due(now)) say_alive();
  if (const auto silence = heartbeat_->judge(now)) report_silence(*silence);
}

void Communicator::Engine::say_alive() {
  const std::string phase = heartbeat_->phase();
  Bytes bytes;
  append(bytes, phase.data(), phase.size());
  for (int other = rank() == 0 ? 1 : 0; other < (rank() == 0 ? size() : 1); ++other)
    signal(other, Signal::kAlive, bytes);
}

/// Told at once: who stalls right after it is named with the right phase.
void Communicator::Engine::set_phase(const std::string& phase) {
  heartbeat_->set_phase(phase);
  if (!open_) return;
  say_alive();
  progress();
}

void Communicator::Engine::learn(const FailureRecord& record) {
  if (!failure_.merge(record)) return;
  driver_.refuse_sends();
  const Bytes bytes = encode(record, kFailureTextBytes);
  if (!open_) {
    // Alone, or not yet in touch with anybody.
  } else if (rank() == 0) {
    for (int other = 1; other < size(); ++other) signal(other, Signal::kFailed, bytes);
  } else if (record.rank == rank()) {
    signal(0, Signal::kFailed, bytes);
  }
  driver_.notify();
  failure_.wake();
}

/// Who asks is told by rank 0's driver, whatever rank 0 itself does.
void Communicator::Engine::measure_clock() {
  constexpr int kRoundTrips = 8;
  if (rank() == 0) return;
  auto shortest = Clock::duration::max();
  for (int i = 0; i < kRoundTrips; ++i) {
    const auto asked = Clock::now();
    signal(0, Signal::kAskClock, {});
    await_all([&] { return !clock_told_.empty(); });
    const std::lock_guard lock(driver_.mutex());
    const auto [told, since_start] = clock_told_.front();
    clock_told_.pop_front();
    if (told - asked >= shortest) continue;
    shortest = told - asked;
    job_start_ = asked + shortest / 2 - std::chrono::nanoseconds(since_start);
  }
}

}  // namespace hetsort::comm
