// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures latency and bandwidth between two ranks.
#pragma once

#include "comm/communicator.h"

namespace hetsort::sort {

struct LinkRates {
  double latency_seconds = 0;   ///< half a round trip of the shortest message, the median of some
  double bytes_per_second = 0;  ///< from this rank to the other
};

/// Measures both directions between this rank and `peer`; each of them gets the rates of its own direction. Messages
/// grow until one takes a tenth of `seconds`. `tag` belongs to these two ranks. Collective of the two. Allocates: 4
/// MiB. Throws: PeerFailed; std::bad_alloc.
LinkRates measure_link(comm::Communicator& ranks, int peer, int tag, double seconds);

/// The partner of `rank` in round 0 <= round < meeting_rounds(ranks); -1 = none. All pairs meet once, and each rank is
/// in at most one pair at a time.
int partner_in_round(int rank, int round, int ranks);
inline int meeting_rounds(int ranks) { return ranks < 2 ? 0 : ranks - 1 + ranks % 2; }

}  // namespace hetsort::sort
