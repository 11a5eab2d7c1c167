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

#include "comm/base/types.h"

namespace hetsort::comm {

/// When this rank must send signs of life, and which peers were silent for too long. Thread safety: any thread.
class Heartbeat {
 public:
  struct Silence {
    int rank = 0;
    double seconds = 0;
    std::string phase;
  };
  /// Maximum bytes of a phase's name; longer names are cut.
  static constexpr std::size_t kMaxPhaseBytes = 32;

  /// Watches `peers`. `turn`: how many other ranks would report the same silence before this one (see turn_seconds()).
  Heartbeat(const std::vector<int>& peers, int turn, const CommunicatorOptions& options);

  /// Sets the name of this rank's phase, which its signs of life report.
  void set_phase(const std::string& phase);
  std::string phase() const;
  /// Sets the counter of this rank's work, which its signs of life report.
  void set_work(std::shared_ptr<const std::atomic<std::uint64_t>> work);
  std::uint64_t work() const;
  /// The sum of the work that the peers last reported.
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
  std::map<int, std::uint64_t> work_of_;  // work that each peer last reported
  std::map<int, Peer> peers_;             // peers that have not ended, by rank
  Clock::time_point sent_;
  Clock::time_point looked_;
  bool judged_ = false;
};

}  // namespace hetsort::comm
