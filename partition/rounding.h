// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Rounds real-valued shares to whole ones that sum to N: rounds all down, then gives each remaining record to the node
// that would finish it first.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "costed_node.h"

namespace hetsort::partition {

/// Hands out `left` more records, each to the node that would finish first with it, within the caps: smallest
/// f_i(n_i + 1), then the node that has got fewer here, then (where a record costs nothing yet, as the first one under
/// n ln n) the node that would finish a second one first, then the lowest index. With increasing costs this completes
/// an optimum (Cerin, Dubacq, Roch 2006, section 3, with the quotient taken of f and not of n, which is right only for
/// linear costs). More than 4 p records are given in bulk: all that cost at most T, for the T that a bisection finds.
/// Requires: room for `left` records. Complexity: O(p) expected when left <= p and no node gets many, O(p log p) up to
/// 4 p records, beyond that 64 counts of the records each node finishes by a T.
void hand_out(std::span<const CostedNode> nodes, std::span<std::int64_t> shares, std::int64_t left);

/// Whole shares near the real ones, summing to `records`, inside each node's limits. Real shares beyond a limit are
/// cut to it and the difference goes to the others in proportion; rounding is floor, then hand_out.
/// Requires: shares >= 0 and finite, not all zero unless records is; limits that can hold the records.
/// Complexity: that of hand_out.
std::vector<std::int64_t> round_shares(std::span<const CostedNode> nodes, std::vector<double> shares,
                                       std::int64_t records);

}  // namespace hetsort::partition
