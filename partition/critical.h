// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The critical number (Nakazawa 2005, chapter 3): the fewest nodes that keep all data in memory. Unequal nodes: the
// smallest m such that the m largest capacities hold N records.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hetsort::partition {

/// Places (ascending) of a smallest set of nodes whose capacities, in records, sum to at least `records`. Of equal
/// capacities the earlier node is taken. Zero records need no node.
/// Throws: PlanError when all nodes together hold fewer, saying by how much. Complexity: O(p log p).
std::vector<std::size_t> critical_nodes(std::span<const std::int64_t> capacities_records, std::int64_t records);

}  // namespace hetsort::partition
