// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures how fast links between hosts are, while runs are formed.
//
// In: on all ranks, the same number of turns. Out: on all ranks, the rate of the fastest burst.
// Idea: in a turn a rank asks another rank for a burst, and measures from its question to the last byte. Processors
// that are busy or stopped by a quota make a burst slower, never faster. So the fastest of many bursts is closest to
// what a link carries, and never much above it. Slower bursts do not show whether the link or a processor was slow:
// so there is one rate for all links, and unequal links are left to `calibrate`. A link that seems too slow makes
// shares more equal, which is safe.
// Everything happens in callbacks on the communicating threads: no thread waits until rate() is called.
// Cost: at most 1/64 of the input over the network, and the processor time to copy it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "comm/communicator.h"

namespace hetsort::sort {

/// The number of bursts that each rank asks for: 0 for a single rank, and if 1/64 of the input is less than a burst a
/// rank.
int probe_turns(std::uint64_t input_bytes, int ranks);

class LinkProbe {
 public:
  static constexpr std::size_t kBurstBytes = std::size_t{1} << 20;

  /// Starts. Collective. Requires: several ranks; another mode than inline, in which nothing would move while ranks
  /// compute; the same turns on all ranks. Throws: PeerFailed; std::length_error if the transport has no more tags.
  LinkProbe(int turns, comm::Communicator& ranks);
  LinkProbe(const LinkProbe&) = delete;
  LinkProbe& operator=(const LinkProbe&) = delete;
  ~LinkProbe();

  /// Waits for all bursts to and from this rank. Returns the bytes per second of the fastest burst on any rank; nullopt
  /// if all ranks share a host. Collective. Throws: PeerFailed; std::runtime_error for an impossible rate.
  std::optional<double> rate();

 private:
  class Turns;

  comm::Communicator& ranks_;
  std::shared_ptr<Turns> turns_;  // shared with its callbacks, which keep it alive
};

}  // namespace hetsort::sort
