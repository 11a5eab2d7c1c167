// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Signs of life: ranks tell rank 0 and rank 0 tells all that they are alive; who was silent for too long is stalled.
//
// Silence is counted only while this rank looks: a process that was stopped itself, or a machine that was suspended,
// takes nobody for dead when it wakes up.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "comm/driver.h"

namespace hetsort::comm {

/// Thread safety: any thread.
class Heartbeat {
 public:
  struct Silence {
    int rank = 0;
    double seconds = 0;
    std::string phase;
  };
  /// More of a phase's name does not travel.
  static constexpr std::size_t kPhaseBytes = 32;

  Heartbeat(int rank, int size, const CommunicatorOptions& options);

  /// This rank's own phase.
  void set_phase(const std::string& phase);
  std::string phase() const;

  /// Whether a sign of life is to be sent now; to rank 0, or by rank 0 to all.
  bool due(Clock::time_point now);
  void heard(int from, std::string phase);
  /// It has ended as it should.
  void gone(int rank);
  /// The rank that was silent for too long, once.
  std::optional<Silence> judge(Clock::time_point now);

 private:
  struct Peer {
    bool watched = false;
    double silent_seconds = 0;
    std::string phase;
  };

  const double every_seconds_;
  const double limit_seconds_;
  mutable std::mutex mutex_;  // guards what follows
  std::string phase_;
  std::vector<Peer> peers_;
  Clock::time_point sent_;
  Clock::time_point looked_;
  bool judged_ = false;
};

}  // namespace hetsort::comm
