// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures the links between hosts for a moment before runs are formed.
//
// In: the size of the probe, the same on all ranks. Out: on all ranks, the rates of each host's link.
// Idea: the first rank of each host speaks for its host. In a round each host sends to one host and receives from
// another, all at the same time, and the distance of the partners is another one in each round. A host's rate is that
// of its fastest round: the partner of a slower one may have been the limit. No rank computes meanwhile, because a busy
// processor, or one that a quota stops, would be measured in place of the link. The processor time of the communicating
// thread gives the cost of messages.
// Cost: at most 1/128 of the input over the network, a fraction of what the exchange moves; one barrier a round and
// three reductions. The first round is short. Its rate decides the bytes of the others, so that all rounds together
// take less than 1 % of the run. Only over links so slow that even short rounds take longer, they do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "comm/communicator.h"

namespace hetsort::sort {

/// How much a probe moves.
struct ProbeSize {
  int rounds = 0;           ///< 0 = nothing is measured
  std::uint64_t bytes = 0;  ///< maximum number of bytes that each host sends in a round
  std::uint64_t input_bytes = 0;
  int hosts = 1;

  /// Bytes of the first round. Shorter transfers measure how fast threads wake up.
  std::uint64_t least() const { return std::min(bytes, std::uint64_t{128} << 10); }
};

/// Two rounds at least; none if 1/128 of the input is too little for them.
ProbeSize probe_size(std::uint64_t input_bytes, int hosts);

/// The first rank of each host.
std::vector<int> first_ranks_of_hosts(const comm::Communicator& ranks);

/// Bytes per second of the link of each rank's host, in rank order; the same on all ranks; 0 = not measured. Most links
/// are alike in both directions, so they are measured together: a thread that waits for a processor makes one of them
/// look slow. Transfers in which a quota stopped a rank do not count; a link without any other transfer counts as fast
/// as the fastest. `processor_seconds`: the time that the processors of all ranks need for the whole run, the same on
/// all ranks. Collective. Requires: another mode than inline, in which waiting threads move messages. Throws:
/// PeerFailed; std::runtime_error for impossible rates.
std::vector<double> probe_links(const ProbeSize& size, double processor_seconds, comm::Communicator& ranks);

}  // namespace hetsort::sort
