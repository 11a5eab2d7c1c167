// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Rates of the links between ranks, from transfers of growing length.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "sort/calibrate/bench.h"

namespace hetsort::sort {

/// Bytes per second. Rates of a host are 0 if there is no other host. A rate of transfers that ended too early to be
/// timed is one that the link at least has.
struct LinkRates {
  std::vector<std::vector<double>>
      between;             ///< [from][to], while each rank sends to one rank and receives from one; 0 to itself
  std::vector<double> in;  ///< by rank: of its host, from all other hosts at once
  std::vector<double> out;
  std::vector<Flow> too_fast{};  ///< transfers between two ranks that ended too early to be timed
  double all = 0;                ///< of all hosts together, if that is much less than their links could carry; else 0
};

/// Measures for about `seconds`. The same result on all ranks. Collective. Throws: what `bench` throws; PeerFailed.
LinkRates measure_links(Bench& bench, double seconds, comm::Communicator& ranks);

/// Transfers the flows at once, the flows that this rank sends or receives with messages of `tag` and `tag` + 1.
/// Returns what Bench::transfer() returns. Requires: all flows have bytes; at most one from one rank to another.
/// Collective. Allocates: 512 KiB for each of these flows. Throws: PeerFailed.
std::vector<double> transfer_flows(comm::Communicator& ranks, int tag, const std::vector<Flow>& flows);

}  // namespace hetsort::sort
