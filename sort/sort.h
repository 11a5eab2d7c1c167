// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The sort: one driver, one call a phase.
#pragma once

#include "comm/communicator.h"
#include "sort/failure/proof_error.h"
#include "sort/failure/request_error.h"
#include "sort/model/monitor.h"
#include "sort/model/rank_result.h"
#include "sort/model/sort_options.h"

namespace hetsort::sort {

/// Sorts. On return the output is complete, proven and in place. On a throw a file at the output's path is untouched,
/// and `result` holds what was known by then.
/// Collective: all ranks of `ranks`. Stable: ties stay in input order. Allocates: options.memory_bytes and a few MiB a
/// thread. Throws: RequestError, ProofError, io::Error, comm::PeerFailed, std::bad_alloc.
void sort_records(const SortOptions& options, comm::Communicator& ranks, Monitor& monitor, RankResult& result);

}  // namespace hetsort::sort
