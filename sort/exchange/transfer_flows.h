// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Timed transfers of bytes that mean nothing, which measure links.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/communicator.h"

namespace hetsort::sort {

/// A transfer of bytes from one rank to another.
struct Flow {
  int from = 0;
  int to = 0;
  std::uint64_t bytes = 0;
};

/// The seconds until the receiver of a flow had received it.
struct FlowTime {
  double all = 0;
  double half = 0;               ///< seconds until half of its bytes or more had arrived
  std::uint64_t half_bytes = 0;  ///< how many had arrived then
};

/// What a rank saw of some flows.
struct FlowTimes {
  std::vector<FlowTime> flows;   ///< times of each flow to this rank; 0 for flows to others
  double processor_seconds = 0;  ///< used by this process meanwhile
};

/// Transfers all flows at the same time. The flows of this rank use messages of `tag` and `tag` + 1. Requires: all
/// flows have bytes; at most one from one rank to another. Collective. Allocates: at most 512 KiB for each flow of this
/// rank. Throws: PeerFailed.
FlowTimes transfer_flows(comm::Communicator& ranks, int tag, const std::vector<Flow>& flows);

}  // namespace hetsort::sort
