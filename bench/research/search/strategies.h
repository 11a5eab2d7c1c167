// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The strategies of Nakazawa 2005 in the planner's table: gbs, gs, ga, sa and spectrum.
#pragma once

namespace hetsort::research {

/// Adds them to partition::all_strategies(), once. Requires: as partition::add_strategies().
void add_search_strategies();

}  // namespace hetsort::research
