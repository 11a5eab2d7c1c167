// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Signs of life between ranks that share a channel. A peer that is silent for too long counts as stalled.
//
// Silence counts only while this rank itself runs. So a process that was stopped, or a machine that was suspended, does
// not report its peers as stalled when it continues.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "comm/types.h"

namespace hetsort::comm {

/// Thread safety: any thread.
class Heartbeat {
 public:
  struct Silence {
    int rank = 0;
    double seconds = 0;
    std::string phase;
  };
  /// Longer names of phases are cut.
  static constexpr std::size_t kMaxPhaseBytes = 32;

  /// Watches `peers`. `turn`: how many other ranks would report the same silence before this one (see turn_seconds()).
  Heartbeat(const std::vector<int>& peers, int turn, const CommunicatorOptions& options);

  /// This rank's own phase.
  void set_phase(const std::string& phase);
  std::string phase() const;
  /// Counts this rank's work, of which its signs of life tell.
  void set_work(std::shared_ptr<const std::atomic<std::uint64_t>> work);
  std::uint64_t work() const;
  /// The sum of what the peers last reported.
  std::uint64_t work_of_peers() const;

  /// Whether this rank must send a sign of life now.
  bool due(Clock::time_point now);
  void heard(int from, std::string phase, std::uint64_t work = 0);
  /// The peer has ended normally.
  void gone(int rank);
  /// The peer that was silent for too long; returned once.
  std::optional<Silence> judge(Clock::time_point now);

 private:
  struct Peer {
    double silent_seconds = 0;
    std::string phase;
    bool was_heard = false;
  };

  const double every_seconds_;
  const double limit_seconds_;
  const double first_limit_seconds_;  // until a peer is heard for the first time
  mutable std::mutex mutex_;          // guards what follows
  std::string phase_;
  std::shared_ptr<const std::atomic<std::uint64_t>> work_;
  std::map<int, std::uint64_t> work_of_;  // by rank
  std::map<int, Peer> peers_;             // by rank; those that have not ended
  Clock::time_point sent_;
  Clock::time_point looked_;
  bool judged_ = false;
};

}  // namespace hetsort::comm
