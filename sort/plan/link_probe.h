// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures the links between hosts for a moment before runs are formed.
//
// In: the size of the probe, the same on all ranks. Out: on all ranks, the rates of each host's link.
// Idea: the first rank of each host speaks for its host. In a round each host sends to one host and receives from
// another, all at the same time, and the distance of the partners is another one in each round. A host's rate is that
// of its fastest round: the partner of a slower one may have been the limit. No rank computes meanwhile, because a busy
// processor, or one that a quota stops, would be measured in place of the link. Where links differ, all are measured up
// to twice more: a short transfer looks slow if another program takes the processor for a moment, and a rank behind a
// slow link gets few records. A transfer that took longer than such a moment is believed.
// Cost: at most 1/64 of the input over the network, a fraction of what the exchange moves; one barrier a round and
// three reductions. Where links differ, up to three times as much. The first round is short. Its rate decides the bytes
// of the others, so that all rounds together take about 1 % of the run. Over links so slow that 512 KiB take longer,
// they take longer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "sort/exchange/transfer_flows.h"

namespace hetsort::sort {

/// How much a probe moves.
struct ProbeSize {
  int rounds = 0;           ///< 0 = nothing is measured
  std::uint64_t bytes = 0;  ///< maximum number of bytes that each host sends in a round
  std::uint64_t input_bytes = 0;
  int hosts = 1;
  int doubts = 2;  ///< how often links that differ are measured again

  /// Bytes of the first round. Shorter transfers measure how fast threads wake up.
  std::uint64_t least() const { return std::min(bytes, std::uint64_t{128} << 10); }
};

/// Two rounds at least; none if 1/64 of the input is too little for them.
ProbeSize probe_size(std::uint64_t input_bytes, int hosts);

/// What a rank saw of a round.
struct RoundTime {
  FlowTime time{};                ///< times of the flow that it received; 0 if there was none
  std::uint64_t was_stopped = 0;  ///< 1 if a quota stopped the rank in this round or the one before
  double processor_seconds = 0;   ///< used by the rank
};

/// Bytes per second of the link of each rank, from all rounds but the first, which shows how much the others may
/// transfer: of its own short transfers waking up is a good part. The rate of a flow is that of all its bytes or of the
/// second half, whichever is less: many links let the first bytes pass faster. Of flows that take less than 2.5 ms only
/// the whole counts. A rank's rate is that of the fastest flow that begins or ends there. Flows between ranks of which
/// a quota stopped one do not count, and a link without others is as fast as the fastest, because nothing shows that it
/// is slow; 0 = no flow counts, or the rank has none. `times`: of each rank in each round. Requires: a round.
std::vector<double> rates_of_flows(std::span<const std::vector<Flow>> rounds,
                                   const std::vector<std::vector<RoundTime>>& times);

/// Processor seconds in which each rank sends or receives a byte, in the cheapest round but the first; 0 for ranks that
/// do neither. Most of them are those of packets and of waking up for them, so links with small packets cost more.
std::vector<double> message_seconds_of(std::span<const std::vector<Flow>> rounds,
                                       const std::vector<std::vector<RoundTime>>& times);

/// Whether the link of one of these ranks is clearly slower than that of another. Requires: a host.
bool links_differ(std::span<const double> rates, std::span<const int> hosts);

/// The first rank of each host.
std::vector<int> first_ranks_of_hosts(const comm::Communicator& ranks);

/// What was measured of the link of a rank's host; 0 = not measured.
struct ProbedLink {
  double rate = 0;             ///< bytes per second
  double message_seconds = 0;  ///< processor seconds to send or receive a byte
  bool operator==(const ProbedLink&) const = default;
};

/// The link of each rank's host, in rank order; the same on all ranks. Most links
/// are alike in both directions, so they are measured together: a thread that waits for a processor makes one of them
/// look slow. `processor_seconds`: the time that the processors of all ranks need for the whole run, the same on
/// all ranks. Collective. Requires: another mode than inline, in which waiting threads move messages. Throws:
/// PeerFailed; std::runtime_error for impossible rates.
std::vector<ProbedLink> probe_links(const ProbeSize& size, double processor_seconds, comm::Communicator& ranks);

}  // namespace hetsort::sort
