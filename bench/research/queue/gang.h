// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Gang scheduling with the critical number, simulated (Nakazawa 2005, chapter 3).
//
// In: jobs and when they arrive, by default all at the start. Out: when each ends. Time is in the thesis' units (STU)
// and passes slice by slice, row by row of the trace matrix. A job needs its computation (3.1) and the time of its I/O
// (3.2). It is in one row (Schark: first fit) or in several (Enhanced: multi_row.h). Switching rows and moving
// processes take no time, and jobs send no messages.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "bench/research/queue/multi_row.h"

namespace hetsort::research {

struct GangJob {
  double parallel = 0;              ///< P: the part of its computation that runs in parallel, from 0 to 1
  std::size_t critical_number = 1;  ///< CN: processors that keep its data in memory
  double arrival = 0;               ///< time at which it is there and gets its place in the matrix
};

/// How many processors a job gets.
enum class ProcessorMethod {
  kSpeedup,       ///< p: as many as doubling reaches while it makes the job 1.2 times as fast
  kAll,           ///< a: all processors
  kSpeedupOrAll,  ///< cP: as p, but all if that is below the critical number
  kCritical,      ///< c: the critical number (3.5)
};

struct GangOptions {
  std::size_t processors = 128;
  double work = 200;       ///< time of each job on one processor. The text of 3.3 fits the results, table 3.2 does not
  int iterations = 100;    ///< iterations of each job; a job beyond memory reads CN times in each
  double io_seconds = 2;   ///< time of each I/O event
  bool multi_row = false;  ///< Enhanced
  ProcessorMethod method = ProcessorMethod::kCritical;
  GangCosts costs;
};

/// The number of processors that the job gets by options.method.
std::size_t processors_of(const GangJob& job, const GangOptions& options);
/// The time of the job's computation on so many processors (3.1).
double work_of(const GangJob& job, std::size_t processors, const GangOptions& options);
/// The I/O events of each process of the job (3.2).
std::int64_t io_events_of(const GangJob& job, std::size_t processors, const GangOptions& options);
/// Rows of the matrix in Enhanced mode: ceil(N_S / N_p). The printed form (3.4) divides by the critical number, which
/// is the same for method c only and does not give the results of the others.
std::size_t rows_of(std::size_t processors, const GangOptions& options);

struct GangResult {
  std::vector<double> ends;    ///< time at which each job ends
  double mean_turnaround = 0;  ///< mean time from arrivals to ends
  double end = 0;
};
/// Runs the jobs to their ends. A job that arrives during a slice is there from the next one on. Deterministic.
/// Complexity: O(slices x rows x processors).
GangResult simulate_gang(const std::vector<GangJob>& jobs, const GangOptions& options);

/// The jobs of section 3.3: P from 0.65 to 0.9, CN from 1 to `max_critical` and rounded up to a power of 2.
std::vector<GangJob> random_gang_jobs(std::size_t count, double max_critical, std::mt19937_64& random);

}  // namespace hetsort::research
