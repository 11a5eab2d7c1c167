// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/heartbeat.h"

#include <utility>

#include "comm/deadline.h"

namespace hetsort::comm {

namespace {

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

Heartbeat::Heartbeat(int rank, int size, const CommunicatorOptions& options)
    : every_seconds_(options.heartbeat_seconds),
      limit_seconds_(options.stall_timeout_seconds + turn_seconds(rank - 1)),  // if rank 0 is silent all notice
      peers_(static_cast<std::size_t>(size)),
      looked_(Clock::now()) {
  for (int peer = 0; peer < size; ++peer)
    peers_[static_cast<std::size_t>(peer)].watched = peer != rank && (rank == 0 || peer == 0);
}

void Heartbeat::set_phase(const std::string& phase) {
  const std::lock_guard lock(mutex_);
  phase_ = phase.substr(0, kPhaseBytes);
}

std::string Heartbeat::phase() const {
  const std::lock_guard lock(mutex_);
  return phase_;
}

bool Heartbeat::due(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (seconds_between(sent_, now) < every_seconds_) return false;
  sent_ = now;
  return true;
}

void Heartbeat::heard(int from, std::string phase) {
  const std::lock_guard lock(mutex_);
  Peer& peer = peers_[static_cast<std::size_t>(from)];
  peer.silent_seconds = 0;
  peer.phase = std::move(phase);
}

void Heartbeat::gone(int rank) {
  const std::lock_guard lock(mutex_);
  peers_[static_cast<std::size_t>(rank)].watched = false;
}

std::optional<Heartbeat::Silence> Heartbeat::judge(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const double passed = seconds_between(looked_, now);
  looked_ = now;
  // This rank itself was stopped: what the others sent meanwhile has still to be looked at.
  if (judged_ || passed > 2 * every_seconds_) return std::nullopt;
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
    Peer& peer = peers_[rank];
    if (!peer.watched) continue;
    peer.silent_seconds += passed;
    if (peer.silent_seconds < limit_seconds_) continue;
    judged_ = true;
    return Silence{static_cast<int>(rank), peer.silent_seconds, peer.phase};
  }
  return std::nullopt;
}

}  // namespace hetsort::comm
