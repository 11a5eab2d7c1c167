// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/research/queue/multi_row.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <numeric>

namespace hetsort::research {
namespace {

using Processors = std::vector<std::size_t>;

/// For each row that a job has, in the order of the rows, the processors of the job in it.
struct RowsOfJob {
  std::vector<std::size_t> rows;
  std::vector<Processors> on;
};

std::map<int, RowsOfJob> jobs_of_matrix(const TraceMatrix& matrix) {
  std::map<int, RowsOfJob> jobs;
  for (std::size_t row = 0; row < matrix.rows(); ++row) {
    for (std::size_t processor = 0; processor < matrix.processors(); ++processor) {
      const int job = matrix.at(row, processor);
      if (job == kNoJob) continue;
      RowsOfJob& of_job = jobs[job];
      if (of_job.rows.empty() || of_job.rows.back() != row) {
        of_job.rows.push_back(row);
        of_job.on.emplace_back();
      }
      of_job.on.back().push_back(processor);
    }
  }
  return jobs;
}

/// Whether another job runs on the processor after row `from` and before row `to`, around the end of the matrix.
bool used_between(const TraceMatrix& matrix, std::size_t processor, std::size_t from, std::size_t to) {
  for (std::size_t row = (from + 1) % matrix.rows(); row != to; row = (row + 1) % matrix.rows())
    if (matrix.at(row, processor) != kNoJob) return true;
  return false;
}

/// T_c + T_m: the time that a process of the job loses in a pass over the matrix, on average over the processes.
double lost_by_job(const TraceMatrix& matrix, const RowsOfJob& job, const GangCosts& costs) {
  double lost = 0;
  for (std::size_t i = 0; i < job.rows.size(); ++i) {
    const std::size_t before = (i + job.rows.size() - 1) % job.rows.size();
    for (const std::size_t processor : job.on[i]) {
      if (!std::ranges::binary_search(job.on[before], processor)) lost += costs.migration;
      if (used_between(matrix, processor, job.rows[before], job.rows[i])) lost += costs.switching;
    }
  }
  return lost / static_cast<double>(job.on.front().size());
}

/// The rows and processors that a search looks at.
struct Candidates {
  std::vector<std::size_t> rows;
  Processors processors;  ///< candidates in the order of their ranking, best first
};

Candidates candidates_for(const TraceMatrix& matrix, std::size_t count, std::size_t alpha) {
  Candidates found;
  std::vector<std::size_t> useful;
  for (std::size_t row = 0; row < matrix.rows(); ++row)
    if (matrix.free_in(row) >= count) useful.push_back(row);
  std::vector<std::size_t> free_rows(matrix.processors(), 0);
  for (const std::size_t row : useful)
    for (std::size_t processor = 0; processor < matrix.processors(); ++processor)
      free_rows[processor] += matrix.at(row, processor) == kNoJob ? 1 : 0;
  found.processors.resize(matrix.processors());
  std::iota(found.processors.begin(), found.processors.end(), std::size_t{0});
  std::ranges::stable_sort(found.processors, std::ranges::greater(), [&](std::size_t one) { return free_rows[one]; });
  found.processors.resize(std::min(matrix.processors(), count + alpha));
  for (const std::size_t row : useful) {
    const auto usable = std::ranges::count_if(
        found.processors, [&](std::size_t processor) { return matrix.at(row, processor) == kNoJob; });
    if (static_cast<std::size_t>(usable) >= count) found.rows.push_back(row);
  }
  return found;
}

Processors free_among(const TraceMatrix& matrix, std::size_t row, const Processors& candidates) {
  Processors free;
  free.reserve(candidates.size());
  for (const std::size_t processor : candidates)
    if (matrix.at(row, processor) == kNoJob) free.push_back(processor);
  return free;
}

/// Chooses processors of a row: those of the target that are free, then other candidates. Sets `matches` to the number
/// of the former.
Processors matched(const TraceMatrix& matrix, std::size_t row, const Processors& target, const Processors& candidates,
                   std::size_t& matches) {
  Processors on = free_among(matrix, row, target);
  matches = on.size();
  for (const std::size_t processor : candidates) {
    if (on.size() == target.size()) break;
    if (matrix.at(row, processor) == kNoJob && std::ranges::find(target, processor) == target.end())
      on.push_back(processor);
  }
  return on;
}

struct Configuration {
  std::vector<std::size_t> rows;
  std::vector<Processors> on;
};

/// The configuration that has the target in `target_row`, and the rows that match it best.
Configuration around(const TraceMatrix& matrix, std::size_t target_row, const Processors& target,
                     const Candidates& candidates, std::size_t rows) {
  struct Match {
    std::size_t matches = 0;
    std::size_t row = 0;
    Processors on;
  };
  std::vector<Match> others;
  others.reserve(candidates.rows.size());
  for (const std::size_t row : candidates.rows) {
    if (row == target_row) continue;
    Match match{.matches = 0, .row = row, .on = {}};
    match.on = matched(matrix, row, target, candidates.processors, match.matches);
    others.push_back(std::move(match));
  }
  std::ranges::stable_sort(others, std::ranges::greater(), &Match::matches);
  Configuration configuration{{target_row}, {target}};
  for (std::size_t i = 0; i + 1 < rows; ++i) {
    configuration.rows.push_back(others[i].row);
    configuration.on.push_back(std::move(others[i].on));
  }
  return configuration;
}

TraceMatrix with(TraceMatrix matrix, int job, const Configuration& configuration) {
  for (std::size_t i = 0; i < configuration.rows.size(); ++i)
    matrix.place(job, configuration.rows[i], configuration.on[i]);
  return matrix;
}

/// Calls `use` with each choice of `count` of `from`, in order, until it returns true.
template <typename Use>
bool each_choice(const Processors& from, std::size_t count, Use use) {
  std::vector<std::size_t> places(count);
  std::iota(places.begin(), places.end(), std::size_t{0});
  while (true) {
    Processors choice(count);
    std::ranges::transform(places, choice.begin(), [&](std::size_t place) { return from[place]; });
    if (use(choice)) return true;
    std::size_t last = count;
    while (last > 0 && places[last - 1] == from.size() - count + last - 1) --last;
    if (last == 0) return false;
    ++places[last - 1];
    for (std::size_t i = last; i < count; ++i) places[i] = places[i - 1] + 1;
  }
}

}  // namespace

double total_progress(const TraceMatrix& matrix, const GangCosts& costs) {
  if (matrix.rows() == 0) return 0;
  double progress = 0;
  for (const auto& [number, job] : jobs_of_matrix(matrix))
    progress += static_cast<double>(job.rows.size()) * costs.slice - lost_by_job(matrix, job, costs);
  return progress / static_cast<double>(matrix.rows());
}

void place_in_rows(TraceMatrix& matrix, int job, std::size_t processors, std::size_t rows, const GangCosts& costs) {
  assert(1 <= processors && processors <= matrix.processors() && 1 <= rows);
  Candidates candidates = candidates_for(matrix, processors, costs.alpha);
  while (candidates.rows.size() < rows) {
    matrix.add_row();
    candidates = candidates_for(matrix, processors, costs.alpha);
  }
  // Without costs every configuration makes the same progress, and the first one wins.
  const bool all_equal = costs.switching == 0 && costs.migration == 0;
  Configuration best;
  double best_progress = 0;
  const auto try_one = [&](std::size_t row, const Processors& target) {
    Configuration one = around(matrix, row, target, candidates, rows);
    const double progress = all_equal ? 0.0 : total_progress(with(matrix, job, one), costs);
    if (best.rows.empty() || progress > best_progress) {
      best = std::move(one);
      best_progress = progress;
    }
    return all_equal;
  };
  for (const std::size_t row : candidates.rows) {
    const Processors free = free_among(matrix, row, candidates.processors);
    if (each_choice(free, processors, [&](const Processors& target) { return try_one(row, target); })) break;
  }
  matrix = with(std::move(matrix), job, best);
}

}  // namespace hetsort::research
