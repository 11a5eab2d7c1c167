// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/engine/heartbeat.h"

#include <utility>

#include "comm/base/deadline.h"

namespace hetsort::comm {

namespace {

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

Heartbeat::Heartbeat(const std::vector<int>& peers, int turn, const CommunicatorOptions& options)
    : every_seconds_(options.heartbeat_seconds),
      limit_seconds_(options.stall_timeout_seconds + turn_seconds(turn)),
      first_limit_seconds_(limit_seconds_ + options.start_allowance_seconds),
      looked_(Clock::now()) {
  for (const int peer : peers) peers_[peer] = {};
}

void Heartbeat::set_phase(const std::string& phase) {
  const std::lock_guard lock(mutex_);
  phase_ = phase.substr(0, kMaxPhaseBytes);
}

std::string Heartbeat::phase() const {
  const std::lock_guard lock(mutex_);
  return phase_;
}

void Heartbeat::set_work(std::shared_ptr<const std::atomic<std::uint64_t>> work) {
  const std::lock_guard lock(mutex_);
  work_ = std::move(work);
}

std::uint64_t Heartbeat::work() const {
  const std::lock_guard lock(mutex_);
  return work_ ? work_->load(std::memory_order_relaxed) : 0;
}

std::uint64_t Heartbeat::work_of_peers() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = 0;
  for (const auto& [rank, work] : work_of_) sum += work;
  return sum;
}

bool Heartbeat::due(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (seconds_between(sent_, now) < every_seconds_) return false;
  sent_ = now;
  return true;
}

void Heartbeat::heard(int from, std::string phase, std::uint64_t work) {
  const std::lock_guard lock(mutex_);
  work_of_[from] = work;
  const auto peer = peers_.find(from);
  if (peer != peers_.end()) peer->second = {0, std::move(phase), true};
}

void Heartbeat::gone(int rank) {
  const std::lock_guard lock(mutex_);
  peers_.erase(rank);
}

std::optional<Heartbeat::Silence> Heartbeat::judge(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  // Each look costs O(peers), and a busy rank asks at each poll for messages.
  constexpr double kLooksABeat = 16;
  const double passed = seconds_between(looked_, now);
  if (passed < every_seconds_ / kLooksABeat) return std::nullopt;
  looked_ = now;
  // This rank itself was stopped: it has yet to read what the others sent meanwhile.
  if (judged_ || passed > 2 * every_seconds_) return std::nullopt;
  for (auto& [rank, peer] : peers_) {
    peer.silent_seconds += passed;
    if (peer.silent_seconds < (peer.was_heard ? limit_seconds_ : first_limit_seconds_)) continue;
    judged_ = true;
    return Silence{rank, peer.silent_seconds, peer.phase};
  }
  return std::nullopt;
}

}  // namespace hetsort::comm
