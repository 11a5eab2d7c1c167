// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures the links between hosts while runs are formed.
//
// In: on all ranks, the same plan of rounds. Out: on each rank, the rate at which bytes arrived in each round.
// Idea: in a round each rank receives from the rank at one distance before it and sends to the rank at that distance
// behind it, so every link carries one transfer in each direction. The receiver grants the messages one by one and can
// stop at any time. A message leaves only when the receive for it is posted, and each grant is answered by one message.
// Everything happens in callbacks on the communicating threads: no thread waits for the probe, and the probe waits for
// no thread. Rounds of different ranks may drift; a rank serves one receiver at a time, in the order of the rounds.
// Cost: at most 1/64 of the input over the network; some processor time to copy it; one reduction at the start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "comm/communicator.h"

namespace hetsort::sort {

/// The rounds of a probe.
struct ProbePlan {
  std::vector<int> distances;  ///< one for each round; no rounds = no probe
  int messages = 0;            ///< that each rank receives in a round

  /// Bytes of a message.
  static constexpr std::size_t kMessageBytes = std::size_t{64} << 10;
  /// Messages that may be under way at once. A burst from the buffers of the network is then at most a quarter of a
  /// round.
  int window() const { return messages / 4; }
};

/// The rounds for a job that sorts `input_bytes` on all ranks together. None for a single rank, and for inputs of which
/// 1/64 is too little to measure with: then the links matter little.
ProbePlan plan_link_probe(std::uint64_t input_bytes, int ranks);

/// Whether ranks on different hosts exchange messages in some round.
bool crosses_hosts(const ProbePlan& plan, const comm::Communicator& ranks);

class LinkProbe {
 public:
  /// Starts the first round. Collective. Requires: not inline mode, in which nothing would move while ranks compute;
  /// the same plan on all ranks. Throws: PeerFailed.
  LinkProbe(const ProbePlan& plan, comm::Communicator& ranks);
  LinkProbe(const LinkProbe&) = delete;
  LinkProbe& operator=(const LinkProbe&) = delete;
  /// Stops. Messages that are still under way keep their memory alive.
  ~LinkProbe();

  /// For each round, the bytes per second that have arrived here so far. 0 = not measured: the sender is on this host,
  /// or less than half of the messages have arrived.
  std::vector<double> rates() const;
  /// Grants no more messages. When all ranks have stopped, the probe is over as soon as the messages under way have
  /// arrived, at most a window of them. Does not wait.
  void stop();
  /// Whether this rank neither sends nor receives any more messages of the probe.
  bool is_over() const;

 private:
  class Rounds;

  std::shared_ptr<Rounds> rounds_;
};

}  // namespace hetsort::sort
