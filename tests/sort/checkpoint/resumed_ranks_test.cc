// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Sorts of several ranks that end while records are exchanged, and those that continue them.
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "sort/input/rank_path.h"
#include "tests/sort/ranks.h"
#include "tests/sort/support.h"

namespace hetsort::sort::test {
namespace {

constexpr int kResumedRanks = 3;

struct RanksJob {
  bool lines = false;
  bool shared = false;  ///< one input, one output and one folder for all ranks
};

void PrintTo(const RanksJob& job, std::ostream* stream) {
  *stream << (job.lines ? "lines" : "records") << (job.shared ? "_shared" : "_own");
}

class ResumedRanks : public testing::TestWithParam<RanksJob> {
 protected:
  ResumedRanks() {
    const RecordLayout records{.record_bytes = 100, .key_offset = 0, .key_bytes = 10};
    Bytes all = make_records({Distribution::kUniform, records, 60'000, test_seed()});
    layout_ = records;
    if (GetParam().lines) {
      end_as_lines(all, 100);
      layout_ = plain_lines();
    }
    write_bytes(folder_ / "in", all);
    for (std::size_t rank = 0; rank < kResumedRanks; ++rank) {
      write_bytes(folder_ / ("in." + std::to_string(rank)), std::span(all).subspan(rank * 2'000'000, 2'000'000));
      std::filesystem::create_directory(kept_ / ("of." + std::to_string(rank)));
    }
    run_sort(sort_of_files({folder_ / "in"}, folder_ / "expected", layout_));
    expected_ = read_bytes(folder_ / "expected");
  }

  /// Sorts on all ranks. Rank 1 fails when `failing` begins. Returns what each rank spilled; nothing if the sort
  /// failed.
  std::optional<std::vector<std::uint64_t>> sort(const std::string& failing) const {
    std::vector<std::uint64_t> spilled(kResumedRanks);
    const bool shared = GetParam().shared;
    const auto body = [&](comm::Communicator& ranks) {
      SortOptions options =
          sort_of_files({folder_ / (shared ? "in" : "in.{rank}")}, folder_ / (shared ? "out" : "out.{rank}"), layout_);
      options.checkpoint.folders = {shared ? kept_.path() : kept_ / "of.{rank}"};
      options.spill.directories = rank_paths(options.checkpoint.folders, ranks);
      options.memory_bytes = std::uint64_t{4} << 20;
      options.output.sync = false;
      options.shares.output_by_rates = shared;
      if (ranks.rank() == 1)
        options.hooks.on_phase = [&](const std::string& begun) {
          if (begun == failing) throw std::runtime_error("ended by the test");
        };
      Monitor monitor;
      RankResult result;
      sort_records(options, ranks, monitor, result);
      spilled[static_cast<std::size_t>(ranks.rank())] = result.bytes_spilled;
    };
    for (const machinery::RankEnd& end : run_once(kResumedRanks, test_seed(), {}, body))
      if (!end.message.empty() || !end.conclusion.empty()) return std::nullopt;
    return spilled;
  }

  Bytes output() const {
    if (GetParam().shared) return read_bytes(folder_ / "out");
    Bytes all;
    for (int rank = 0; rank < kResumedRanks; ++rank) {
      const Bytes own = read_bytes(folder_ / ("out." + std::to_string(rank)));
      all.insert(all.end(), own.begin(), own.end());
    }
    return all;
  }
  std::size_t files_kept() const {
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kept_.path()))
      files += entry.is_regular_file() ? 1 : 0;
    return files;
  }
  std::string folder_of(int rank) const {
    return GetParam().shared ? kept_.path() : kept_ / ("of." + std::to_string(rank));
  }

  RecordLayout layout_;
  Bytes expected_;
  Scratch folder_;
  Scratch kept_;
};

TEST_P(ResumedRanks, continue_with_the_runs_of_all_ranks) {
  EXPECT_FALSE(sort("exchange"));
  EXPECT_EQ(files_kept(), 2U * kResumedRanks);
  const auto spilled = sort("");
  ASSERT_TRUE(spilled);
  EXPECT_EQ(*spilled, std::vector<std::uint64_t>(kResumedRanks));
  EXPECT_TRUE(output() == expected_);
  EXPECT_EQ(files_kept(), 0U);
}

TEST_P(ResumedRanks, form_runs_anew_where_a_folder_is_lost) {
  EXPECT_FALSE(sort("exchange"));
  for (const char* name : {"/hetsort.2.journal", "/hetsort.2.runs.0"}) std::filesystem::remove(folder_of(2) + name);
  const auto spilled = sort("");
  ASSERT_TRUE(spilled);
  EXPECT_EQ((*spilled)[0] + (*spilled)[1], 0U);
  EXPECT_GT((*spilled)[2], 0U);
  EXPECT_TRUE(output() == expected_);
  EXPECT_EQ(files_kept(), 0U);
}

TEST_P(ResumedRanks, of_another_number_are_refused_if_each_has_its_own_input) {
  EXPECT_FALSE(sort("exchange"));
  SortOptions alone = sort_of_files({folder_ / "in"}, folder_ / "out", layout_);
  alone.checkpoint.folders = {folder_of(0)};
  alone.spill.directories = alone.checkpoint.folders;
  if (!GetParam().shared) {
    EXPECT_THROW(run_sort(alone), RequestError);
    EXPECT_EQ(files_kept(), 2U * kResumedRanks);
    return;
  }
  EXPECT_EQ(run_sort(alone).bytes_spilled, 0U);
  EXPECT_TRUE(output() == expected_);
  EXPECT_EQ(files_kept(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Jobs, ResumedRanks,
                         testing::Values(RanksJob{false, false}, RanksJob{false, true}, RanksJob{true, false},
                                         RanksJob{true, true}),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace hetsort::sort::test
