// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The multi-row search of an I/O-aware gang scheduler (Nakazawa 2005, 3.2.4 and 3.2.5): places a job in several rows of
// the trace matrix, so that small jobs run more often, on processors that differ as little as possible.
//
// Only rows with enough free processors count. Processors are ranked by the number of these rows in which they are
// free, and the best (job's + alpha) are looked at. Each choice of the job's number among them, in each row, is a
// target; the other rows take the processors of the target that they have, and others for the rest. The configuration
// with the most progress of all jobs in a pass over the matrix wins, the first one found among equals. Where too few
// rows are left after the ranking, empty rows are added.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/research/queue/trace_matrix.h"

namespace hetsort::research {

/// Times of the simulated machine, in the thesis' units, and the width of the search. The thesis gives no numbers for
/// the two losses; 0 = none.
struct GangCosts {
  double slice = 20;      ///< time that a row runs before the next one does
  double switching = 0;   ///< loss of a process if another job has used its processor since it last ran
  double migration = 0;   ///< loss of a process that runs on another processor than the last time
  std::size_t alpha = 2;  ///< processors that the search looks at beyond the job's number
};

/// Places `job` on so many processors of so many rows. Requires: 1 <= processors <= those of the matrix, 1 <= rows.
void place_in_rows(TraceMatrix& matrix, int job, std::size_t processors, std::size_t rows, const GangCosts& costs);

/// The sum of the jobs' progress in one pass over the matrix, divided by its number of rows: T_rho^C. I/O does not
/// depend on where a job is placed and is left out.
double total_progress(const TraceMatrix& matrix, const GangCosts& costs);

}  // namespace hetsort::research
