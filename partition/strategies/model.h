// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What the strategies of a speed model share. Internal to the library.
#pragma once

#include <string>
#include <vector>

#include "partition/problem.h"
#include "partition/strategy.h"

namespace hetsort::partition {

/// Strategy::unsuitable of the strategies that read only speeds: names the first node without one.
std::string needs_speeds(const Problem& problem);

/// The speeds in node order. Requires: needs_speeds(problem) is empty.
std::vector<double> speeds_of(const Problem& problem);

/// A strategy's answer, made of real shares. Requires: as round_shares.
Shares rounded(const Problem& problem, std::vector<double> shares);

/// N k_i^exponent / sum_j k_j^exponent, without overflow for extreme speeds.
std::vector<double> shares_in_proportion(const Problem& problem, double exponent);

}  // namespace hetsort::partition
