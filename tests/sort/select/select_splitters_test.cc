// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/select/select_splitters.h"

#include "tests/sort/select/spilled_runs.h"

namespace hetsort::sort::test {
namespace {

/// For each rank the cut by brute force: of the first `rank` records of a stable merge, how many come from each run.
std::vector<Cut> cuts_by_merging(const SpilledRuns& runs, const std::vector<std::uint64_t>& ranks) {
  Bytes all;
  std::vector<std::size_t> run_of;
  for (std::size_t run = 0; run < runs.runs().size(); ++run) {
    all.insert(all.end(), runs.sorted(run).begin(), runs.sorted(run).end());
    run_of.resize(run_of.size() + runs.sizes()[run], run);
  }
  std::vector<Cut> before(1, Cut(runs.runs().size(), 0));
  for (const std::size_t number : reference_order(all, runs.layout())) {
    before.push_back(before.back());
    ++before.back()[run_of[number]];
  }
  std::vector<Cut> cuts;
  for (const std::uint64_t rank : ranks) cuts.push_back(before[rank]);
  return cuts;
}

std::vector<std::uint64_t> all_ranks(const SpilledRuns& runs, std::uint64_t step = 1) {
  std::vector<std::uint64_t> ranks;
  for (std::uint64_t rank = 0; rank < runs.records(); rank += step) ranks.push_back(rank);
  ranks.push_back(runs.records());
  return ranks;
}

void expect_exact_cuts(const SpilledRuns& runs, const std::vector<std::uint64_t>& ranks) {
  EXPECT_TRUE(select_splitters(runs.runs(), runs.space(), runs.layout(), ranks) == cuts_by_merging(runs, ranks));
}

class SelectSplitters : public testing::TestWithParam<std::tuple<Distribution, RecordLayout>> {};

TEST_P(SelectSplitters, meets_every_rank_exactly) {
  SCOPED_TRACE(seed_note());
  const auto& [distribution, layout] = GetParam();
  SpilledRuns runs(layout, kPageBytes, test_seed() % 2 == 0, 700);
  runs.add_runs(distribution, {500, 1, 0, 130, 131, 300}, test_seed());
  expect_exact_cuts(runs, all_ranks(runs, kSanitized ? 7 : 1));
}

INSTANTIATE_TEST_SUITE_P(Keys, SelectSplitters,
                         testing::Combine(testing::ValuesIn(kDistributions),
                                          testing::Values(RecordLayout{100, 0, 10}, RecordLayout{60, 17, 40},
                                                          RecordLayout{1000, 990, 1}, RecordLayout{31, 20, 11})));

TEST(SelectSplittersOf, keys_that_cross_page_borders_are_read_whole) {
  // Key 100..1700 of 3000-byte records in blocks of 5 pages.
  SpilledRuns runs({.record_bytes = 3000, .key_offset = 100, .key_bytes = 1600}, 5 * kPageBytes, true);
  runs.add_runs(Distribution::kSharedPrefix, {40, 33, 21}, test_seed());
  expect_exact_cuts(runs, all_ranks(runs));
}

TEST(SelectSplittersOf, the_longest_keys_are_read_whole) {
  SpilledRuns runs({.record_bytes = 5000, .key_offset = 900, .key_bytes = 4096}, 4 * kPageBytes, false);
  runs.add_runs(Distribution::kDeepTies, {20, 13}, test_seed());
  expect_exact_cuts(runs, all_ranks(runs));
}

TEST(SelectSplittersOf, runs_that_do_not_overlap_are_cut_at_their_borders) {
  const RecordLayout layout{.record_bytes = 100, .key_offset = 0, .key_bytes = 10};
  const Bytes sorted = make_records({Distribution::kSorted, layout, 900, test_seed()});
  SpilledRuns runs(layout, kPageBytes, false);
  for (const std::size_t part : {2U, 0U, 1U}) runs.add(std::span(sorted).subspan(part * 30'000, 30'000));
  expect_exact_cuts(runs, all_ranks(runs));
}

TEST(SelectSplittersOf, no_runs_and_empty_runs_have_one_cut) {
  SpilledRuns runs({.record_bytes = 100, .key_offset = 0, .key_bytes = 10}, kPageBytes, false);
  EXPECT_EQ(select_splitters(runs.runs(), runs.space(), runs.layout(), std::vector<std::uint64_t>{0}).size(), 1U);
  runs.add_runs(Distribution::kUniform, {0, 0}, test_seed());
  expect_exact_cuts(runs, {0, 0});
}

TEST(SelectSplittersOf, runs_with_keys_in_memory_reads_few_pages) {
  const RecordLayout layout{.record_bytes = 100, .key_offset = 0, .key_bytes = 10};
  SpilledRuns runs(layout, 256 * kPageBytes, false, 4 * kPageBytes);
  runs.add_runs(Distribution::kUniform, {30'000, 30'000, 30'000}, test_seed());
  const std::uint64_t before = io::traffic().bytes_read;
  expect_exact_cuts(runs, {20'001, 45'000, 70'003});
  EXPECT_LE(io::traffic().bytes_read - before, 8U * kPageBytes * 9);
}

TEST(SelectSplittersOf, many_equal_keys_reads_few_pages) {
  const RecordLayout layout{.record_bytes = 100, .key_offset = 0, .key_bytes = 10};
  SpilledRuns runs(layout, 16 * kPageBytes, false);
  runs.add_runs(Distribution::kAllEqual, {20'000, 20'000, 20'000, 20'000}, test_seed());
  const std::uint64_t before = io::traffic().bytes_read;
  const std::vector<std::uint64_t> ranks{40'001};
  const std::vector<Cut> cuts = select_splitters(runs.runs(), runs.space(), layout, ranks);
  EXPECT_EQ(cuts.front(), (Cut{20'000, 20'000, 1, 0}));
  EXPECT_LE(io::traffic().bytes_read - before, runs.all().size() / 100);
}

}  // namespace
}  // namespace hetsort::sort::test
