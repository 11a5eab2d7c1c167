// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The rates of the hosts' links, from the transfers of a probe (link_probe.h).
//
// Idea: a transfer is as fast as the slower one of two links, and other work can only slow it down. So the rate of a
// link is that of its fastest round. The ranks of a host use its link together: their transfers of a round add up.
// Links of one kind get one rate, because small differences are noise and would make shares unequal for no reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "sort/plan/link_probe.h"

namespace hetsort::sort {

/// Bytes per second that the link of a rank's host carries.
struct HostLink {
  double in = 0;
  double out = 0;

  bool operator==(const HostLink&) const = default;
};

/// What is known of all ranks for the exchange, by rank.
struct MeasuredLinks {
  std::vector<std::size_t> host;     ///< ranks with the same number share a link
  std::vector<HostLink> rates;       ///< above 0, equal for the ranks of a host
  std::vector<std::uint64_t> input;  ///< records that each rank has
};

/// What a rank measured: for each round, bytes per second, 0 = not measured.
using RoundRates = std::vector<double>;

/// The rates of the ranks' hosts; pure. A host that was not measured gets the median of the others. Rates are limited
/// to a factor of 16 above and below their median. Empty if nothing was measured.
/// Requires: one list of rates for each rank, with one rate >= 0 for each of `distances`.
std::vector<HostLink> host_links(std::span<const int> distances, std::span<const std::size_t> host,
                                 std::span<const RoundRates> measured);

/// What all ranks measured, the same on all ranks; nullopt if that is nothing. `input_records`: of this rank.
/// Collective. Throws: PeerFailed; std::runtime_error for impossible rates.
std::optional<MeasuredLinks> gather_links(const ProbePlan& plan, const RoundRates& mine, std::uint64_t input_records,
                                          comm::Communicator& ranks);

}  // namespace hetsort::sort
