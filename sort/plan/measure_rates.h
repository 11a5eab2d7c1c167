// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What a rank measures of itself and its host before it forms runs, for plans without a cluster file.
#pragma once

#include <span>

#include "comm/communicator.h"
#include "sort/model/measured_shares.h"
#include "sort/model/sort_options.h"
#include "sort/plan/link_probe.h"

namespace hetsort::sort {

/// Bytes of a round that tests ask for.
inline constexpr std::uint64_t kSmallProbeBytes = std::uint64_t{32} << 10;

/// The number of processors that this rank has while all ranks of its host work: what a quota allows, at most its part
/// of the host's.
double processors_of(const comm::Communicator& ranks);

/// Measures links and, unless records are lines, processors. Collective. Throws: what probe_links() and rehearse()
/// throw.
RankRates measure_rates(const ProbeSize& size, const SortOptions& options, comm::Communicator& ranks);

/// Throws: std::runtime_error if a rank reports rates that are impossible.
void check_rates(std::span<const RankRates> rates);

}  // namespace hetsort::sort
