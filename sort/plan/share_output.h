// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What a sort knows only while it runs: what was read, how much each rank ends with, and where that lies in the output.
//
// In: the plan, and the runs of all ranks. Out: the decided shares of the output; then the output, ready to be written.
// Idea: planned shares hold if they were planned. Otherwise the work of all ranks while they formed runs and the rates
// of links and disks decide. A share of lines ends where the line begins in which it would end, which the exchange's
// plan knows. Cost: no message, or a reduction of O(ranks) numbers if disks were measured.
#pragma once

#include <span>

#include "sort/exchange/plan_exchange.h"
#include "sort/model/rank_result.h"
#include "sort/output/output.h"
#include "sort/plan/plan_sort.h"
#include "sort/runs/form_runs.h"

namespace hetsort::sort {

/// Reserves space for the output if its size is known already. Throws: io::Error.
void reserve_output(PlannedSort& planned);

/// Whether measured rates decide and the input is large enough. False if rank 0 sends it, or the mode is inline.
bool is_worth_measuring(const PlannedSort& planned);
/// Measures processors and links for a moment. Collective. Requires: is_worth_measuring(). Throws: what measure_rates()
/// throws.
void measure(PlannedSort& planned);

/// Starts what runs beside the forming of runs, before the first segment is taken: claims of the input, and the
/// measurement of the output's disk if measure() has measured, each where the plan has it. Collective. Throws:
/// PeerFailed.
void begin_to_form(PlannedSort& planned);

/// Checks the number of records or lines that all ranks have read, if the user has named it and it was not known
/// before. Collective. Throws: RequestError; PeerFailed.
void check_read_records(const PlannedSort& planned, const FormedRuns& runs);

/// The shares of the output, decided; those of lines in bytes, up to the next line.
struct SharedOutput {
  PlannedSort& planned;
  Shares shares;
};

/// Decides the shares. `formed`: what all ranks have announced. Collective. Throws: ProofError when the ranks do not
/// have the whole input; PeerFailed.
SharedOutput share_output(PlannedSort& planned, std::span<const FormedRank> formed, RankResult& result);

/// The output at the place of the shares, with rank 0's header, for runs that are merged on this rank, or by the plan
/// of an exchange. Reserves its space if that has not been done. Collective. Throws: io::Error; PeerFailed.
ReadyOutput place_output(SharedOutput shared);
ReadyOutput place_output(SharedOutput shared, const ExchangePlan& plan);
/// The output, with rank 0's header. `records`: of the output, which the header may say; those that -u drops count.
/// Collective. Throws: io::Error.
ReadyOutput begin_output(PlannedSort& planned, std::uint64_t records);

}  // namespace hetsort::sort
