// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/research/queue/gang.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace hetsort::research {
namespace {

constexpr double kWorthwhileSpeedup = 1.2;  // speedup of a doubling; the thesis' choice

std::size_t processors_by_speedup(const GangJob& job, const GangOptions& options) {
  std::size_t processors = 1;
  while (2 * processors <= options.processors &&
         work_of(job, processors, options) / work_of(job, 2 * processors, options) >= kWorthwhileSpeedup)
    processors *= 2;
  return processors;
}

void place(TraceMatrix& matrix, int number, const GangJob& job, const GangOptions& options) {
  const std::size_t processors = processors_of(job, options);
  if (options.multi_row)
    place_in_rows(matrix, number, processors, rows_of(processors, options), options.costs);
  else
    matrix.place_first_fit(number, processors);
}

/// Jobs that have not arrived, the next one last.
std::vector<std::size_t> in_order_of_arrival(const std::vector<GangJob>& jobs) {
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t job) { return jobs[job].arrival; });
  std::ranges::reverse(order);
  return order;
}

}  // namespace

std::size_t processors_of(const GangJob& job, const GangOptions& options) {
  switch (options.method) {
    case ProcessorMethod::kAll:
      return options.processors;
    case ProcessorMethod::kCritical:
      return std::min(job.critical_number, options.processors);
    case ProcessorMethod::kSpeedup:
      return processors_by_speedup(job, options);
    case ProcessorMethod::kSpeedupOrAll:
      break;
  }
  const std::size_t processors = processors_by_speedup(job, options);
  return processors < job.critical_number ? options.processors : processors;
}

double work_of(const GangJob& job, std::size_t processors, const GangOptions& options) {
  return ((1 - job.parallel) + job.parallel / static_cast<double>(processors)) * options.work;
}

std::int64_t io_events_of(const GangJob& job, std::size_t processors, const GangOptions& options) {
  if (processors >= job.critical_number) return 1;
  const auto events = static_cast<std::int64_t>(job.critical_number) * options.iterations;
  const auto share = static_cast<std::int64_t>(processors);
  return (events + share - 1) / share;
}

std::size_t rows_of(std::size_t processors, const GangOptions& options) {
  return (options.processors + processors - 1) / processors;
}

GangResult simulate_gang(const std::vector<GangJob>& jobs, const GangOptions& options) {
  GangResult result;
  result.ends.assign(jobs.size(), 0.0);
  std::vector<double> left;
  left.reserve(jobs.size());
  for (const GangJob& job : jobs) {
    const std::size_t processors = processors_of(job, options);
    left.push_back(work_of(job, processors, options) +
                   options.io_seconds * static_cast<double>(io_events_of(job, processors, options)));
  }
  TraceMatrix matrix(options.processors);
  std::vector<std::size_t> coming = in_order_of_arrival(jobs);
  double now = 0;
  std::size_t row = 0;
  while (matrix.rows() > 0 || !coming.empty()) {
    if (matrix.rows() == 0) now = std::max(now, jobs[coming.back()].arrival);
    for (; !coming.empty() && jobs[coming.back()].arrival <= now; coming.pop_back())
      place(matrix, static_cast<int>(coming.back()), jobs[coming.back()], options);
    bool ended = false;
    for (const int number : matrix.jobs_of(row)) {
      const auto job = static_cast<std::size_t>(number);
      if (left[job] <= options.costs.slice) {
        result.ends[job] = now + left[job];
        matrix.remove(number);
        ended = true;
      }
      left[job] -= options.costs.slice;
    }
    now += options.costs.slice;
    ++row;
    if (ended) row = matrix.compact(row);
    if (row >= matrix.rows()) row = 0;
  }
  for (const double end : result.ends) result.end = std::max(result.end, end);
  for (std::size_t i = 0; i < jobs.size(); ++i)
    result.mean_turnaround += (result.ends[i] - jobs[i].arrival) / static_cast<double>(jobs.size());
  return result;
}

std::vector<GangJob> random_gang_jobs(std::size_t count, double max_critical, std::mt19937_64& random) {
  constexpr double kMinParallel = 0.65;
  constexpr double kMaxParallel = 0.9;
  // The same numbers on every platform, which the distributions of the standard library do not promise.
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(random() >> 11) * 0x1p-53;
  };
  std::vector<GangJob> jobs(count);
  for (GangJob& job : jobs) {
    job.parallel = uniform(kMinParallel, kMaxParallel);
    job.critical_number = std::bit_ceil(static_cast<std::size_t>(std::ceil(uniform(1, max_critical))));
  }
  return jobs;
}

}  // namespace hetsort::research
