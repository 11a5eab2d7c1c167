// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/research/queue/gang.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace hetsort::research::test {
namespace {

using Processors = std::vector<std::size_t>;

GangOptions four_processors(ProcessorMethod method) {
  GangOptions options;
  options.processors = 4;
  options.method = method;
  return options;
}

TEST(TraceMatrix, a_job_goes_into_the_first_row_with_room) {
  TraceMatrix matrix(4);
  EXPECT_EQ(matrix.place_first_fit(0, 3), 0u);
  EXPECT_EQ(matrix.place_first_fit(1, 2), 1u);
  EXPECT_EQ(matrix.place_first_fit(2, 1), 0u);
  EXPECT_EQ(matrix.place_first_fit(3, 2), 1u);
  EXPECT_EQ(matrix.jobs_of(0), (std::vector<int>{0, 2}));
  EXPECT_EQ(matrix.free_in(1), 0u);
}

TEST(TraceMatrix, compaction_drops_empty_rows_and_keeps_the_place) {
  TraceMatrix matrix(2);
  for (int job = 0; job < 4; ++job) matrix.place_first_fit(job, 2);
  matrix.remove(0);
  matrix.remove(2);
  EXPECT_EQ(matrix.compact(1), 0u);  // row 1 is now the first
  ASSERT_EQ(matrix.rows(), 2u);
  EXPECT_EQ(matrix.at(0, 0), 1);
  EXPECT_EQ(matrix.at(1, 1), 3);
  matrix.remove(1);
  EXPECT_EQ(matrix.compact(2), 1u);  // beyond the end: the caller starts again
}

TEST(Gang, methods_choose_processors_by_speedup_memory_or_greed) {
  const GangJob job{.parallel = 0.775, .critical_number = 32};
  GangOptions options;
  options.method = ProcessorMethod::kSpeedup;
  EXPECT_EQ(processors_of(job, options), 8u);  // 1.63, 1.46, 1.30, then 1.18
  options.method = ProcessorMethod::kAll;
  EXPECT_EQ(processors_of(job, options), 128u);
  options.method = ProcessorMethod::kSpeedupOrAll;
  EXPECT_EQ(processors_of(job, options), 128u);
  EXPECT_EQ(processors_of({.parallel = 0.775, .critical_number = 8}, options), 8u);
  options.method = ProcessorMethod::kCritical;
  EXPECT_EQ(processors_of(job, options), 32u);
  EXPECT_EQ(processors_of({.parallel = 0.775, .critical_number = 256}, options), 128u);
}

// 3.1, 3.2
TEST(Gang, a_job_computes_and_reads_as_the_equations_say) {
  const GangJob job{.parallel = 0.8, .critical_number = 32};
  const GangOptions options;
  EXPECT_DOUBLE_EQ(work_of(job, 8, options), (0.2 + 0.1) * 200);
  EXPECT_EQ(io_events_of(job, 8, options), 400);
  EXPECT_EQ(io_events_of(job, 32, options), 1);
  EXPECT_EQ(io_events_of(job, 3, options), 1067);
  EXPECT_EQ(rows_of(8, options), 16u);
  EXPECT_EQ(rows_of(128, options), 1u);
}

TEST(Gang, jobs_take_turns_until_each_has_its_slices) {
  // Alone on 4 processors: 0.5 * 200 + 0.5 / 4 * 200 + 2 = 127 is 7 slices of 20.
  const std::vector<GangJob> jobs(2, {.parallel = 0.5, .critical_number = 4});
  const GangResult result = simulate_gang(jobs, four_processors(ProcessorMethod::kAll));
  EXPECT_DOUBLE_EQ(result.ends[0], 12 * 20 + 7);
  EXPECT_DOUBLE_EQ(result.ends[1], 13 * 20 + 7);
  EXPECT_DOUBLE_EQ(result.mean_turnaround, 257);
  EXPECT_DOUBLE_EQ(result.end, 267);
}

TEST(Gang, a_job_gets_its_place_when_it_has_arrived) {
  GangOptions options;
  options.work = 40;  // two slices, and one for the I/O
  std::vector<GangJob> jobs{{.parallel = 0, .arrival = 1000}, {.parallel = 0}, {.parallel = 0, .arrival = 30}};
  options.method = ProcessorMethod::kAll;
  const GangResult result = simulate_gang(jobs, options);
  EXPECT_EQ(result.ends[0], 1042);  // The processors were free.
  EXPECT_EQ(result.ends[1], 42);
  EXPECT_EQ(result.ends[2], 102);  // It arrived during a slice, and its own begin at 60.
  EXPECT_DOUBLE_EQ(result.mean_turnaround, (42 + 42 + 72) / 3.0);
}

TEST(Gang, in_enhanced_mode_a_small_job_runs_in_several_rows) {
  // The large job fills a row. The small one has a row, or two in Enhanced mode.
  const std::vector<GangJob> jobs{{.parallel = 0.5, .critical_number = 4}, {.parallel = 0.5, .critical_number = 2}};
  GangOptions options = four_processors(ProcessorMethod::kCritical);
  const GangResult one_row = simulate_gang(jobs, options);
  options.multi_row = true;
  const GangResult two_rows = simulate_gang(jobs, options);
  EXPECT_DOUBLE_EQ(one_row.ends[1], 14 * 20 + 12);   // 152 in every second slice, until the other has ended
  EXPECT_DOUBLE_EQ(two_rows.ends[1], 11 * 20 + 12);  // in two of three
}

TEST(MultiRow, rows_that_share_processors_are_preferred_if_migration_costs) {
  TraceMatrix matrix(4);
  for (int row = 0; row < 3; ++row) matrix.add_row();
  matrix.place(0, 0, Processors{2, 3});
  matrix.place(1, 1, Processors{0, 1});
  matrix.place(2, 2, Processors{2, 3});
  GangCosts costs;
  costs.migration = 1;
  place_in_rows(matrix, 3, 2, 2, costs);
  EXPECT_EQ(matrix.rows(), 3u);
  for (const std::size_t row : {0u, 2u})
    for (const std::size_t processor : {0u, 1u}) EXPECT_EQ(matrix.at(row, processor), 3);
}

TEST(MultiRow, rows_are_added_if_too_few_have_room) {
  TraceMatrix matrix(4);
  matrix.place_first_fit(0, 3);
  place_in_rows(matrix, 1, 2, 3, {});
  EXPECT_EQ(matrix.rows(), 4u);
  EXPECT_EQ(matrix.free_in(0), 1u);
}

TEST(MultiRow, progress_counts_slices_without_switching_and_migration) {
  TraceMatrix matrix(2);
  for (int row = 0; row < 3; ++row) matrix.add_row();
  matrix.place(0, 0, Processors{0});
  matrix.place(0, 1, Processors{1});
  matrix.place(1, 2, Processors{0, 1});
  EXPECT_DOUBLE_EQ(total_progress(matrix, {}), 3 * 20 / 3.0);
  GangCosts costs;
  costs.migration = 2;  // of job 0, twice
  EXPECT_DOUBLE_EQ(total_progress(matrix, costs), (3 * 20 - 4) / 3.0);
  costs.switching = 1;  // job 0 before its first row; job 1 once on each of two processors
  EXPECT_DOUBLE_EQ(total_progress(matrix, costs), (3 * 20 - 4 - 1 - 1) / 3.0);
}

TEST(Gang, a_seed_gives_the_same_times_and_critical_numbers_help) {
  for (const bool multi_row : {false, true}) {
    GangOptions options;
    options.multi_row = multi_row;
    std::mt19937_64 first(1);
    std::mt19937_64 second(1);
    const auto jobs = random_gang_jobs(100, 128, first);
    const GangResult critical = simulate_gang(jobs, options);
    EXPECT_EQ(critical.ends, simulate_gang(random_gang_jobs(100, 128, second), options).ends);
    options.method = ProcessorMethod::kSpeedup;
    EXPECT_GE(simulate_gang(jobs, options).mean_turnaround, 4.5 * critical.mean_turnaround);
  }
}

}  // namespace
}  // namespace hetsort::research::test
