// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// How fast messages go from one rank to another.
#pragma once

#include "comm/communicator.h"

namespace hetsort::sort {

struct LinkRates {
  double latency_seconds = 0;   ///< half a round trip of the shortest message, the median of some
  double bytes_per_second = 0;  ///< from this rank to the other
};

/// Measures both ways between this rank and `peer`, each of which gets its own way. Messages grow until one takes a
/// tenth of `seconds`. `tag` is for these two alone. Collective of the two. Allocates: 4 MiB.
/// Throws: PeerFailed; std::bad_alloc.
LinkRates measure_link(comm::Communicator& ranks, int peer, int tag, double seconds);

/// Whom `rank` meets in round 0 <= round < meeting_rounds(ranks), so that all pairs meet once and each rank is in one
/// pair at a time; -1 = nobody.
int partner_in_round(int rank, int round, int ranks);
inline int meeting_rounds(int ranks) { return ranks < 2 ? 0 : ranks - 1 + ranks % 2; }

}  // namespace hetsort::sort
