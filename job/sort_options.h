// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The options of a sort, which the program, C and Python have in common.
#pragma once

#include "job/options/option.h"
#include "job/request/request.h"

namespace hetsort::job {

/// The options of several sorts in turn: all but the strategy, and but merging.
void add_sort_options(Options& options, SortRequest& request);
/// Those of one sort.
void add_one_sort_options(Options& options, SortRequest& request);
/// The options of a sort of records in memory, which fill those fields of the request that it uses.
void add_memory_sort_options(Options& options, SortRequest& request);

/// The ranks of a job: when they join, and when they give up.
void add_rank_options(Options& options, RankRequest& request);
void add_exchange_option(Options& options, RankRequest& request);

}  // namespace hetsort::job
