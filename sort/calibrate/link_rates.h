// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Rates of the links between ranks, from transfers of growing length.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "sort/calibrate/bench.h"

namespace hetsort::sort {

/// Rates in bytes per second. Rates of a host are 0 if there is no other host. If transfers ended too early to be
/// timed, the rate is a lower bound.
struct LinkRates {
  std::vector<std::vector<double>>
      between;             ///< [from][to], while each rank sends to one rank and receives from one; 0 to itself
  std::vector<double> in;  ///< rate into each rank's host from all other hosts at once, while it sends to all of them
  std::vector<double> out;
  std::vector<Flow> too_fast{};  ///< transfers between two ranks that ended too early to be timed
  double all = 0;                ///< rate of all hosts together, if far below what their links could carry; else 0
};

/// The seconds of each flow, above zero. `received`: of each rank the seconds of the flows to it, in the order of the
/// flows. Throws: std::runtime_error if a rank gives more or fewer of them.
std::vector<double> seconds_of_flows(std::span<const Flow> flows, const std::vector<std::vector<double>>& received);

/// Measures for about `seconds`. The same result on all ranks. Collective. Throws: what `bench` throws;
/// std::runtime_error if a rank reports times of other flows; PeerFailed.
LinkRates measure_links(Bench& bench, double seconds, comm::Communicator& ranks);

}  // namespace hetsort::sort
