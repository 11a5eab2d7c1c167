// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// How much ranks spill whose input is larger than their memory.
#include <filesystem>
#include <optional>

#include "sort/plan/plan_sort.h"
#include "tests/sort/ranks.h"
#include "tests/sort/support.h"

namespace hetsort::sort::test {
namespace {

// Blocks hold a whole number of these.
const RecordLayout kWideLayout{512, 100, 10};
constexpr std::uint64_t kSpillingMemory = std::uint64_t{20} << 20;

/// A job in which rank 0, or every rank, has more input than memory holds.
struct SpillingJob {
  int ranks = 2;
  bool all_beyond = true;
  std::uint64_t percent = 0;  ///< more than memory holds

  bool is_beyond(int rank) const { return all_beyond || rank == 0; }
};

void PrintTo(const SpillingJob& job, std::ostream* stream) {
  *stream << job.ranks << "_ranks_" << (job.all_beyond ? "all" : "one") << "_beyond_by_" << job.percent << "_percent";
}

std::vector<SpillingJob> all_spilling_jobs() {
  std::vector<SpillingJob> jobs;
  for (const int ranks : {2, 3, 4})
    for (const bool all_beyond : {true, false})
      for (const std::uint64_t percent : {1, 25, 100}) jobs.push_back({ranks, all_beyond, percent});
  return jobs;
}

/// The most records that a rank beyond its memory could keep, while the other ranks have half of that. Leaves the input
/// of this rank with any length. Collective.
std::uint64_t records_that_memory_holds(const SpillingJob& job, const SortOptions& options, const std::string& input,
                                        comm::Communicator& ranks) {
  std::uint64_t low = 0;
  std::uint64_t high = kSpillingMemory / kWideLayout.record_bytes;
  while (low < high) {
    const std::uint64_t middle = (low + high + 1) / 2;
    const std::uint64_t own = job.is_beyond(ranks.rank()) ? middle : middle / 2;
    std::ofstream(input, std::ios::app).close();
    std::filesystem::resize_file(input, own * kWideLayout.record_bytes);
    ranks.barrier();
    if (plan_sort(options, ranks).any_rank_spills)
      high = middle - 1;
    else
      low = middle;
  }
  return low;
}

class SpilledBytes : public testing::TestWithParam<SpillingJob> {};

TEST_P(SpilledBytes, are_what_memory_does_not_hold_and_one_run) {
  SCOPED_TRACE(seed_note());
  const SpillingJob& job = GetParam();
  if (ranks_for(job.ranks) != job.ranks) return;
  std::optional<Scratch> folder;
  if (has_first_rank()) folder.emplace();
  const auto body = [&](comm::Communicator& ranks) {
    const Scratch temp;
    const std::string path = path_for_all(ranks.rank() == 0 ? folder->path() : "", ranks);
    SortOptions options = sort_of_files({path + "/in.{rank}"}, path + "/out.{rank}", kWideLayout);
    options.spill.directories = {temp.path()};
    options.memory_bytes = kSpillingMemory;
    options.threads = 2;
    options.output.sync = false;
    const std::string input = path + "/in." + std::to_string(ranks.rank());
    const std::uint64_t holds = records_that_memory_holds(job, options, input, ranks);
    const bool is_beyond = job.is_beyond(ranks.rank());
    const std::uint64_t records = is_beyond ? holds + holds * job.percent / 100 : holds / 2;
    const auto seed = case_seed(static_cast<std::uint64_t>(ranks.rank()));
    write_bytes(input, make_records({Distribution::kUniform, kWideLayout, records, seed}));
    ranks.barrier();
    const MemoryPlan plan = plan_sort(options, ranks).memory;
    Monitor monitor;
    RankResult result;
    sort_records(options, ranks, monitor, result);
    SCOPED_TRACE("rank " + std::to_string(ranks.rank()) + ", memory holds " + std::to_string(holds) + " records");
    EXPECT_EQ(result.in_memory, !is_beyond);
    const std::uint64_t beyond = is_beyond ? (records - holds) * kWideLayout.record_bytes : 0;
    EXPECT_GE(result.bytes_spilled, beyond);
    // The place of a run is some pages larger than the run, and the last block of each run is not full.
    const std::uint64_t run = plan.run_bytes + plan.run_bytes / 8 + 16 * kPageBytes;
    EXPECT_LE(result.bytes_spilled, beyond + beyond / 100 * 15 + run + (result.runs - 1) * plan.spill_block_bytes);
  };
  for (const machinery::RankEnd& end : run_once(job.ranks, test_seed(), {}, body)) {
    EXPECT_EQ(end.message, "");
    EXPECT_EQ(end.conclusion, "");
  }
  if (!folder) return;
  const auto of_all_ranks = [&](const std::string& prefix) {
    Bytes all;
    for (int rank = 0; rank < job.ranks; ++rank) {
      const Bytes own = read_bytes(*folder / (prefix + std::to_string(rank)));
      all.insert(all.end(), own.begin(), own.end());
    }
    return all;
  };
  EXPECT_TRUE(is_sorted_form(of_all_ranks("out."), of_all_ranks("in."), kWideLayout));
}

/// A sort by a single rank whose records all spill.
class SpilledOnce : public testing::Test {
 protected:
  void write_input(std::size_t threads, std::uint64_t times_memory) {
    options_.threads = threads;
    options_.memory_bytes = floor_memory(kWideLayout, threads);
    options_.spill.directories = {temp_.path()};
    options_.output.sync = false;
    const std::uint64_t records = times_memory * options_.memory_bytes / kWideLayout.record_bytes;
    input_ = make_records({Distribution::kFewKeys, kWideLayout, records, test_seed()});
    write_bytes(folder_ / "in", input_);
  }
  RankResult sort() {
    const RankResult result = run_sort(options_);
    EXPECT_TRUE(is_sorted_form(read_bytes(folder_ / "out"), input_, kWideLayout));
    return result;
  }
  /// What a result has spilled, in bytes of the input.
  double times_spilled(const RankResult& result) const {
    return static_cast<double>(result.bytes_spilled) / static_cast<double>(input_.size());
  }

  Scratch folder_;
  Scratch temp_;
  SortOptions options_ = sort_of_files({folder_ / "in"}, folder_ / "out", kWideLayout);
  Bytes input_;
};

TEST_F(SpilledOnce, are_records_that_many_threads_sort_with_little_memory) {
  if (!has_first_rank()) return;
  write_input(8, 4);
  EXPECT_LE(times_spilled(sort()), 1.05);
}

TEST_F(SpilledOnce, are_all_records_but_those_of_surplus_runs) {
  if (!has_first_rank()) return;
  write_input(1, 6);
  const RankResult enough = sort();
  ASSERT_GE(enough.runs, 8U);
  EXPECT_LE(times_spilled(enough), 1.05);
  options_.spill.max_merged_runs = enough.runs - 2;
  const RankResult surplus = sort();
  EXPECT_EQ(surplus.runs, enough.runs);
  // Three runs become one.
  EXPECT_GE(times_spilled(surplus), 1.05);
  EXPECT_LE(times_spilled(surplus), times_spilled(enough) + 3.3 / static_cast<double>(enough.runs));
}

INSTANTIATE_TEST_SUITE_P(Jobs, SpilledBytes, testing::ValuesIn(some_of(all_spilling_jobs(), 1)),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace hetsort::sort::test
