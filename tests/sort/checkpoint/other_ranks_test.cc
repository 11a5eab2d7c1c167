// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Sorts that end, and that other numbers of ranks continue: all folders are on storage that all ranks see, in one
// folder or in one for each rank.
#include <filesystem>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "sort/checkpoint/divide_runs.h"
#include "sort/checkpoint/journal.h"
#include "sort/input/rank_path.h"
#include "tests/sort/ranks.h"
#include "tests/sort/support.h"

namespace hetsort::sort::test {
namespace {

struct OtherRanksJob {
  bool lines = false;
  bool own_folders = false;  ///< each rank names its own folder
};

void PrintTo(const OtherRanksJob& job, std::ostream* stream) {
  *stream << (job.lines ? "lines" : "records") << (job.own_folders ? "_own_folders" : "_one_folder");
}

/// What a sort is to do.
struct Attempt {
  int ranks = 1;
  std::string failing{};     ///< the last rank fails when this phase begins
  bool first_fails = false;  ///< rank 0 fails instead
  std::uint64_t memory_mib = 8;
  std::uint64_t block_bytes = 0;        ///< size of spilled blocks; 0 = as planned
  std::vector<std::uint64_t> speeds{};  ///< how fast the ranks are; none = equal
};

class OtherRanks : public testing::TestWithParam<OtherRanksJob> {
 protected:
  static constexpr std::uint64_t kRecords = 60'000;

  OtherRanks() {
    layout_ = RecordLayout{.record_bytes = 100, .key_offset = 0, .key_bytes = 10};
    Bytes all = make_records({Distribution::kFewKeys, layout_, kRecords, test_seed()});
    if (GetParam().lines) {
      end_as_lines(all, 100);
      layout_ = plain_lines();
    }
    write_bytes(folder_ / "in", all);
    for (int rank = 0; rank < 4; ++rank) std::filesystem::create_directory(kept_ / ("of." + std::to_string(rank)));
    run_sort(sort_of_files({folder_ / "in"}, folder_ / "expected", layout_));
    expected_ = read_bytes(folder_ / "expected");
  }

  /// Returns how many bytes all ranks spilled; nothing if the sort failed.
  std::optional<std::uint64_t> sort(const Attempt& attempt) const {
    std::vector<std::uint64_t> spilled(static_cast<std::size_t>(attempt.ranks));
    const auto body = [&](comm::Communicator& ranks) {
      SortOptions options = sort_of_files({folder_ / "in"}, folder_ / "out", layout_);
      options.checkpoint.folders = {GetParam().own_folders ? kept_ / "of.{rank}" : kept_.path()};
      options.spill.directories = rank_paths(options.checkpoint.folders, ranks);
      options.memory_bytes = attempt.memory_mib << 20;
      options.threads = 2;
      options.hooks.block_bytes = attempt.block_bytes;
      options.output.sync = false;
      if (!attempt.speeds.empty())
        options.shares.output = [&](const RecordsToShare& what) {
          Shares shares;
          const std::uint64_t all = std::reduce(attempt.speeds.begin(), attempt.speeds.end());
          std::uint64_t left = what.records;
          for (const std::uint64_t speed : attempt.speeds) {
            shares.records.push_back(what.records * speed / all);
            left -= shares.records.back();
          }
          shares.records.back() += left;
          return shares;
        };
      if (ranks.rank() == (attempt.first_fails ? 0 : attempt.ranks - 1))
        options.hooks.on_phase = [&](const std::string& begun) {
          if (begun == attempt.failing) throw std::runtime_error("ended by the test");
        };
      Monitor monitor;
      RankResult result;
      sort_records(options, ranks, monitor, result);
      spilled[static_cast<std::size_t>(ranks.rank())] = result.bytes_spilled;
    };
    for (const machinery::RankEnd& end : run_once(attempt.ranks, test_seed(), {}, body))
      if (!end.message.empty() || !end.conclusion.empty()) return std::nullopt;
    return std::reduce(spilled.begin(), spilled.end());
  }

  /// Expects success of the sort, and nothing left of the checkpoint. Returns how many bytes it spilled.
  std::uint64_t expect_success(const Attempt& attempt) const {
    const std::optional<std::uint64_t> spilled = sort(attempt);
    EXPECT_TRUE(spilled.has_value());
    EXPECT_TRUE(read_bytes(folder_ / "out") == expected_);
    EXPECT_EQ(files_kept(), 0U);
    EXPECT_EQ(folder_.names(), (std::set<std::string>{"expected", "in", "out"}));
    std::filesystem::remove(folder_ / "out");
    return spilled.value_or(0);
  }

  /// Tears the last line of each journal: its run or piece does not count any more.
  void lose_last_lines() const {
    for (const std::string& path : journals()) std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  }

  std::vector<std::string> journals() const {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kept_.path()))
      if (entry.path().extension() == ".journal") paths.push_back(entry.path());
    return paths;
  }

  std::size_t files_kept() const {
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kept_.path()))
      files += entry.is_regular_file() ? 1 : 0;
    return files;
  }

  RecordLayout layout_;
  Bytes expected_;
  Scratch folder_;
  Scratch kept_;
};

TEST_P(OtherRanks, continue_with_all_runs) {
  for (const auto& [from, to] : std::vector<std::pair<int, int>>{{3, 1}, {1, 3}, {4, 2}, {2, 3}}) {
    SCOPED_TRACE(std::to_string(from) + " to " + std::to_string(to));
    EXPECT_FALSE(sort({.ranks = from, .failing = from == 1 ? "merge_runs" : "exchange"}));
    EXPECT_EQ(files_kept(), 2U * static_cast<std::size_t>(from));
    EXPECT_EQ(expect_success({.ranks = to}), 0U);
  }
}

TEST_P(OtherRanks, continue_a_sort_that_ended_while_runs_were_formed) {
  for (const auto& [from, to] : std::vector<std::pair<int, int>>{{3, 1}, {1, 3}, {4, 2}}) {
    SCOPED_TRACE(std::to_string(from) + " to " + std::to_string(to));
    EXPECT_FALSE(sort({.ranks = from, .failing = from == 1 ? "merge_runs" : "exchange", .memory_mib = 4}));
    lose_last_lines();
    const std::uint64_t spilled = expect_success({.ranks = to, .memory_mib = 12});
    EXPECT_GT(spilled, 0U);
    EXPECT_LT(spilled, kRecords * 100) << "some runs were there";
  }
}

TEST_P(OtherRanks, change_again_and_again) {
  EXPECT_FALSE(sort({.ranks = 3, .failing = "exchange", .memory_mib = 4}));
  lose_last_lines();
  EXPECT_FALSE(sort({.ranks = 1, .failing = "publish"}));
  EXPECT_FALSE(sort({.ranks = 4, .failing = "exchange"}));
  EXPECT_FALSE(sort({.ranks = 2, .failing = "exchange"}));
  EXPECT_EQ(expect_success({.ranks = 3}), 0U);
}

TEST_P(OtherRanks, of_other_speeds_continue_with_all_runs) {
  EXPECT_FALSE(sort({.ranks = 3, .failing = "exchange", .speeds = {1, 2, 5}}));
  EXPECT_EQ(expect_success({.ranks = 3, .speeds = {6, 1, 1}}), 0U);
}

TEST_P(OtherRanks, form_again_what_is_damaged_or_out_of_sight) {
  EXPECT_FALSE(sort({.ranks = 3, .failing = "exchange"}));
  const std::string second = GetParam().own_folders ? kept_ / "of.1/" : kept_.path() + "/";
  const std::string third = GetParam().own_folders ? kept_ / "of.2/" : kept_.path() + "/";
  Bytes runs = read_bytes(second + "hetsort.1.runs.0");
  runs[runs.size() / 3] ^= std::byte{4};
  write_bytes(second + "hetsort.1.runs.0", runs);
  std::filesystem::remove(third + "hetsort.2.runs.0");
  const std::uint64_t spilled = expect_success({.ranks = 1});
  EXPECT_GT(spilled, kRecords * 100 / 3);
  EXPECT_LT(spilled, kRecords * 100);
}

TEST_P(OtherRanks, begin_anew_on_demand_and_leave_nothing) {
  EXPECT_FALSE(sort({.ranks = 3, .failing = "exchange"}));
  EXPECT_FALSE(sort({.ranks = 1, .failing = "publish"}));
  EXPECT_GT(folder_.names().size(), 2U) << "the unfinished output stays";
  expect_success({.ranks = 2});
}

TEST_P(OtherRanks, remove_the_journal_of_a_rank_that_died_before_it_wrote_a_line) {
  EXPECT_FALSE(sort({.ranks = 3, .failing = "exchange"}));
  std::filesystem::resize_file((GetParam().own_folders ? kept_ / "of.2" : kept_.path()) + "/hetsort.2.journal", 0);
  expect_success({.ranks = 2});
}

TEST_P(OtherRanks, remove_files_of_all_earlier_jobs_after_one_that_began_anew) {
  EXPECT_FALSE(sort({.ranks = 4, .failing = "exchange"}));
  for (const std::string& path : journals()) {
    Journal journal(path);
    const std::vector<std::string> lines = journal.lines();
    journal.clear();
    for (const std::string& line : lines)
      if (!line.starts_with("run ")) journal.append(line);
  }
  EXPECT_FALSE(sort({.ranks = 1, .failing = "merge_runs", .block_bytes = 20'000}));
  expect_success({.ranks = 1});
}

TEST_P(OtherRanks, write_nothing_before_rank_0_has_said_how_many_they_are) {
  EXPECT_FALSE(sort({.ranks = 3, .failing = "form_runs", .first_fails = true}));
  EXPECT_EQ(files_kept(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Jobs, OtherRanks,
                         testing::Values(OtherRanksJob{false, false}, OtherRanksJob{false, true},
                                         OtherRanksJob{true, false}, OtherRanksJob{true, true}),
                         testing::PrintToStringParamName());

TEST(DivideRuns, gives_runs_to_the_nearest_rank_that_can_read_them) {
  const OfferedRun front{1, {0, 40}};
  const OfferedRun middle{2, {40, 30}};
  const OfferedRun back{3, {70, 30}};
  const std::vector<RankOffer> all{{{{0, 50}}, {front, middle, back}}, {{{50, 50}}, {front, middle, back}}};
  EXPECT_EQ(divide_runs(all), (std::vector<std::vector<OfferedRun>>{{front}, {middle, back}}));
  const std::vector<RankOffer> first_sees{{{{0, 50}}, {front, middle}}, {{{50, 50}}, {}}};
  EXPECT_EQ(divide_runs(first_sees), (std::vector<std::vector<OfferedRun>>{{front, middle}, {}}));
}

TEST(DivideRuns, takes_a_record_once) {
  const OfferedRun merged{1, {0, 60}};
  const OfferedRun part{2, {40, 30}};
  const OfferedRun rest{2, {60, 40}};
  EXPECT_EQ(divide_runs({{{{0, 100}}, {part, rest, merged}}}), (std::vector<std::vector<OfferedRun>>{{merged, rest}}));
}

TEST(DivideRuns, offers_become_numbers_and_back) {
  const RankOffer offer{{{0, 50}, {70, 5}}, {{7, {1, 2}}, {8, {3, 4}}}};
  const RankOffer found = offer_of(numbers_of(offer));
  EXPECT_EQ(found.share, offer.share);
  EXPECT_EQ(found.runs, offer.runs);
  for (const std::vector<std::uint64_t>& wrong :
       {std::vector<std::uint64_t>{}, {9}, {1, 2}, {0, 1, 2}, {0, 1, 2, UINT64_MAX}})
    EXPECT_THROW(offer_of(wrong), std::runtime_error);
}

}  // namespace
}  // namespace hetsort::sort::test
