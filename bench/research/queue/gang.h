// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Gang scheduling with the critical number, simulated (Nakazawa 2005, chapter 3).
//
// In: jobs that are all there at the start. Out: when each ends. Time is in the thesis' units (STU) and passes slice by
// slice, row by row of the trace matrix. A job needs its computation (3.1) and the time of its I/O (3.2). It is in one
// row (Schark: first fit) or in several (Enhanced: multi_row.h). Switching rows and moving processes take no time.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "bench/research/queue/multi_row.h"

namespace hetsort::research {

struct GangJob {
  double parallel = 0;              ///< P: the part of its computation that runs in parallel, from 0 to 1
  std::size_t critical_number = 1;  ///< CN: processors that keep its data in memory
};

/// How many processors a job gets.
enum class ProcessorMethod {
  kSpeedup,       ///< p: doubled as long as that makes it 1.2 times as fast
  kAll,           ///< a
  kSpeedupOrAll,  ///< cP: as p, but all if that is below the critical number
  kCritical,      ///< c: the critical number (3.5)
};

struct GangOptions {
  std::size_t processors = 128;
  double work = 200;       ///< of each job on one processor; the text of 3.3, and not its table 3.2, fits the results
  int iterations = 100;    ///< of each job; a job beyond memory reads CN times in each
  double io_seconds = 2;   ///< of each I/O event
  bool multi_row = false;  ///< Enhanced
  ProcessorMethod method = ProcessorMethod::kCritical;
  GangCosts costs;
};

/// Processors by the method.
std::size_t processors_of(const GangJob& job, const GangOptions& options);
/// 3.1: seconds of computation on so many processors.
double work_of(const GangJob& job, std::size_t processors, const GangOptions& options);
/// 3.2: I/O events of each of its processes.
std::int64_t io_events_of(const GangJob& job, std::size_t processors, const GangOptions& options);
/// Rows of the matrix in Enhanced mode: ceil(N_S / N_p). The printed form (3.4) divides by the critical number, which
/// is the same for method c only and does not give the results of the others.
std::size_t rows_of(std::size_t processors, const GangOptions& options);

struct GangResult {
  std::vector<double> ends;  ///< by job
  double mean_turnaround = 0;
  double end = 0;
};
/// Deterministic. Complexity: O(slices x rows x processors).
GangResult simulate_gang(const std::vector<GangJob>& jobs, const GangOptions& options);

/// The jobs of section 3.3: P from 0.65 to 0.9, CN from 1 to `max_critical` and rounded up to a power of 2.
std::vector<GangJob> random_gang_jobs(std::size_t count, double max_critical, std::mt19937_64& random);

}  // namespace hetsort::research
