// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Sorts that end early, and those that continue them: in every phase, with other memory and threads, with bits that
// flip in what was kept, and with inputs and keys that have changed. HETSORT_TEST_KEPT_FLIPS sets how many bits flip.
#include "sort/checkpoint/checkpoint.h"

#include <sys/file.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "io/calls/system_calls.h"
#include "sort/checkpoint/divide_runs.h"
#include "sort/checkpoint/journal.h"
#include "sort/failure/request_error.h"
#include "tests/machinery/fault_plan.h"
#include "tests/sort/support.h"

namespace hetsort::sort::test {
namespace {

const RecordLayout kResumedLayout{.record_bytes = 100, .key_offset = 0, .key_bytes = 10};

/// A sort that is ended and continued.
class Resumed : public testing::TestWithParam<bool> {
 protected:
  explicit Resumed(bool lines) : layout_(lines ? plain_lines() : kResumedLayout) {
    input_ = make_records({Distribution::kUniform, kResumedLayout, 60'000, test_seed()});
    if (lines) end_as_lines(input_, 100);
    write_bytes(folder_ / "in", input_);
    SortOptions plain = options();
    plain.checkpoint = {};
    plain.output.paths = {folder_ / "expected"};
    run_sort(plain);
    expected_ = read_bytes(folder_ / "expected");
  }
  Resumed() : Resumed(GetParam()) {}

  SortOptions options() const {
    SortOptions options = sort_of_files({folder_ / "in"}, folder_ / "out", layout_);
    options.memory_bytes = std::uint64_t{4} << 20;
    options.threads = 2;
    options.spill.directories = {kept_.path()};
    options.checkpoint.folders = {kept_.path()};
    return options;
  }

  struct Outcome {
    std::string error{};
    std::vector<std::string> notes{};
    RankResult result{};
  };
  static Outcome run(const SortOptions& options) {
    comm::Communicator alone;
    Monitor monitor;
    Outcome outcome;
    monitor.on_note([&](const std::string& note) { outcome.notes.push_back(note); });
    try {
      sort_records(options, alone, monitor, outcome.result);
    } catch (const std::exception& error) {
      outcome.error = error.what();
    }
    return outcome;
  }

  /// Ends a sort when it has formed its runs.
  void end_before_merge() const { end_in("merge_runs", options()); }
  static void end_in(const std::string& phase, SortOptions options) {
    options.hooks.on_phase = [phase](const std::string& begun) {
      if (begun == phase) throw std::runtime_error("ended by the test");
    };
    EXPECT_EQ(run(options).error, "ended by the test");
  }

  /// Continues, and expects the right output and an empty folder.
  Outcome expect_success(const SortOptions& options) const {
    Outcome outcome = run(options);
    EXPECT_EQ(outcome.error, "");
    EXPECT_TRUE(read_bytes(folder_ / "out") == expected_);
    EXPECT_TRUE(kept_.names().empty());
    EXPECT_EQ(folder_.names(), (std::set<std::string>{"expected", "in", "out"}));
    std::filesystem::remove(folder_ / "out");
    return outcome;
  }

  std::string unfinished_output() const {
    for (const std::string& name : folder_.names())
      if (name.ends_with(".kept")) return folder_ / name;
    return folder_ / "none";
  }
  std::string journal() const { return kept_ / "hetsort.0.journal"; }
  std::string runs_file() const { return kept_ / "hetsort.0.runs.0"; }
  std::uint64_t input_bytes() const { return input_.size(); }

  RecordLayout layout_;
  Bytes input_;
  Bytes expected_;
  Scratch folder_;
  Scratch kept_;
};

class RecordsAndLines : public Resumed {};

TEST_P(RecordsAndLines, a_sort_that_is_not_ended_leaves_nothing) {
  const Outcome outcome = expect_success(options());
  EXPECT_GT(outcome.result.runs, 1U);
  EXPECT_GE(outcome.result.bytes_spilled, input_bytes());
  EXPECT_TRUE(outcome.notes.empty());
}

TEST_P(RecordsAndLines, runs_that_exist_are_not_formed_again) {
  end_before_merge();
  EXPECT_EQ(kept_.names(), (std::set<std::string>{"hetsort.0.journal", "hetsort.0.runs.0"}));
  const Outcome outcome = expect_success(options());
  EXPECT_EQ(outcome.result.bytes_spilled, 0U);
  ASSERT_EQ(outcome.notes.size(), 1U);
  EXPECT_NE(outcome.notes.front().find("continues with"), std::string::npos);
}

TEST_P(RecordsAndLines, what_is_merged_is_not_merged_again) {
  for (const std::size_t threads : {2, 1, 3}) {
    end_in("publish", options());
    EXPECT_EQ(folder_.names().size(), 3U) << "the unfinished output stays";
    SortOptions other = options();
    other.threads = threads;
    other.output.verify = true;
    const std::uint64_t before = io::traffic().bytes_written;
    expect_success(other);
    EXPECT_LT(io::traffic().bytes_written - before, input_bytes() / 10);
  }
}

TEST_P(RecordsAndLines, runs_behind_the_output_that_is_there_are_not_read) {
  end_in("publish", options());
  write_bytes(runs_file(), Bytes(std::filesystem::file_size(runs_file())));
  const Outcome outcome = expect_success(options());
  EXPECT_EQ(outcome.result.bytes_spilled, 0U);
  EXPECT_EQ(outcome.notes.size(), 1U);
}

TEST_P(RecordsAndLines, a_flipped_bit_in_the_unfinished_output_is_found) {
  std::mt19937_64 random(test_seed());
  const std::uint64_t flips = environment_number("HETSORT_TEST_KEPT_FLIPS", 2);
  for (std::uint64_t i = 0; i < flips; ++i) {
    end_in("publish", options());
    Bytes output = read_bytes(unfinished_output());
    output[static_cast<std::size_t>(random() % input_bytes())] ^= static_cast<std::byte>(1 << random() % 8);
    write_bytes(unfinished_output(), output);
    const Outcome outcome = expect_success(options());
    EXPECT_EQ(outcome.result.bytes_spilled, 0U);
    ASSERT_EQ(outcome.notes.size(), 2U);
    EXPECT_NE(outcome.notes.front().find("of the output are merged again"), std::string::npos);
  }
}

TEST_P(RecordsAndLines, an_unfinished_output_that_was_cut_short_is_merged_again) {
  end_in("publish", options());
  std::filesystem::resize_file(unfinished_output(), input_bytes() / 3);
  EXPECT_GT(expect_success(options()).notes.size(), 1U);
}

TEST_P(RecordsAndLines, after_a_failed_proof_all_runs_are_read) {
  end_before_merge();
  {
    Journal journal_of_runs(journal());
    SpilledRun last = runs_of(journal_of_runs.lines()).back();
    last.prefixes.block_records = 1;
    ++last.digest.fingerprint;
    journal_of_runs.append(line_of(last));
  }
  EXPECT_NE(run(options()).error.find("are not the ones read"), std::string::npos);
  write_bytes(runs_file(), Bytes(std::filesystem::file_size(runs_file())));
  const Outcome next = run(options());
  ASSERT_FALSE(next.notes.empty());
  EXPECT_NE(next.notes.front().find("is made again"), std::string::npos) << "in spite of the output that is there";
}

TEST_P(RecordsAndLines, an_output_that_ended_anywhere_is_continued) {
  for (std::uint64_t n = 3; n < 40; n += 4) {
    SCOPED_TRACE(n);
    end_before_merge();
    machinery::set_fault_plan("sync:" + std::to_string(n) + ":EIO");
    const std::string error = run(options()).error;
    machinery::set_fault_plan("");
    const std::uint64_t before = io::traffic().bytes_written;
    expect_success(options());
    if (error.empty() || n < 8) continue;
    EXPECT_LT(io::traffic().bytes_written - before, input_bytes()) << "some pieces were there";
    break;
  }
}

TEST_P(RecordsAndLines, other_memory_and_threads_continue) {
  for (const auto& [memory, threads] : std::vector<std::pair<std::uint64_t, std::size_t>>{{4, 1}, {8, 3}, {64, 2}}) {
    end_before_merge();
    SortOptions other = options();
    other.memory_bytes = memory << 20;
    other.threads = threads;
    EXPECT_EQ(expect_success(other).result.bytes_spilled, 0U);
  }
}

TEST_P(RecordsAndLines, a_sort_that_fails_at_any_write_continues) {
  for (std::uint64_t n = 1, fired = 1; fired > 0; n += n < 4 ? 1 : n) {
    SCOPED_TRACE(n);
    for (const char* fault : {"write:%:ENOSPC", "sync:%:EIO"}) {
      std::string plan = fault;
      plan.replace(plan.find('%'), 1, std::to_string(n));
      SortOptions asked = options();
      asked.access = io::Access::kBuffered;
      machinery::set_fault_plan(plan);
      const Outcome outcome = run(asked);
      fired = machinery::faults_fired();
      machinery::set_fault_plan("");
      EXPECT_EQ(outcome.error.empty(), fired == 0) << outcome.error;
      expect_success(asked);
    }
  }
}

TEST_P(RecordsAndLines, a_run_with_a_flipped_bit_is_made_again) {
  std::mt19937_64 random(test_seed());
  const std::uint64_t flips = environment_number("HETSORT_TEST_KEPT_FLIPS", GetParam() ? 3 : 8);
  for (std::uint64_t i = 0; i < flips; ++i) {
    end_before_merge();
    Bytes runs = read_bytes(runs_file());
    // Padding behind the records of a block may flip.
    const auto at = static_cast<std::size_t>(random() % runs.size());
    runs[at] ^= static_cast<std::byte>(1 << random() % 8);
    write_bytes(runs_file(), runs);
    const Outcome outcome = expect_success(options());
    EXPECT_LE(outcome.result.bytes_spilled, input_bytes() / 2);
    EXPECT_EQ(outcome.result.bytes_spilled > 0, outcome.notes.size() > 1);
  }
}

TEST_P(RecordsAndLines, runs_that_were_cut_short_or_removed_are_made_again) {
  end_before_merge();
  std::filesystem::resize_file(runs_file(), input_bytes() / 2);
  EXPECT_GT(expect_success(options()).result.bytes_spilled, 0U);
  end_before_merge();
  std::filesystem::remove(runs_file());
  EXPECT_GE(expect_success(options()).result.bytes_spilled, input_bytes());
}

TEST_P(RecordsAndLines, a_flipped_bit_in_the_journal_never_gives_a_wrong_output) {
  std::mt19937_64 random(test_seed());
  const std::uint64_t flips = environment_number("HETSORT_TEST_KEPT_FLIPS", GetParam() ? 6 : 24);
  for (std::uint64_t i = 0; i < flips; ++i) {
    end_before_merge();
    Bytes text = read_bytes(journal());
    const auto at = static_cast<std::size_t>(random() % (i % 2 == 0 ? text.size() : 600));
    text[at] ^= static_cast<std::byte>(1 << random() % 8);
    write_bytes(journal(), text);
    const Outcome outcome = run(options());
    if (!outcome.error.empty()) {
      EXPECT_NE(outcome.error.find("begins anew"), std::string::npos) << outcome.error;
      SortOptions anew = options();
      anew.checkpoint.restart = true;
      expect_success(anew);
    } else {
      EXPECT_TRUE(read_bytes(folder_ / "out") == expected_);
      EXPECT_TRUE(kept_.names().empty());
      std::filesystem::remove(folder_ / "out");
    }
  }
}

TEST_P(RecordsAndLines, a_torn_last_line_is_no_error) {
  end_before_merge();
  const auto bytes = std::filesystem::file_size(journal());
  for (const std::uintmax_t cut : {1, 100, 1000}) {
    std::filesystem::resize_file(journal(), bytes - cut);
    end_before_merge();
  }
  const Outcome outcome = expect_success(options());
  EXPECT_EQ(outcome.result.bytes_spilled, 0U);
}

INSTANTIATE_TEST_SUITE_P(Checkpoint, RecordsAndLines, testing::Bool(),
                         [](const auto& kind) { return kind.param ? "lines" : "records"; });

class ResumedRecords : public Resumed {
 protected:
  ResumedRecords() : Resumed(false) {}

  void expect_refused(const SortOptions& options, const std::string& text) const {
    const Outcome outcome = run(options);
    EXPECT_NE(outcome.error.find(text), std::string::npos) << outcome.error;
    EXPECT_EQ(kept_.names().size(), 2U) << "what is there stays";
  }
};

using CheckpointTest = ResumedRecords;

TEST_F(CheckpointTest, of_another_key_or_input_is_refused_and_begun_anew_on_demand) {
  end_before_merge();
  SortOptions other = options();
  other.layout.key_bytes = 9;
  expect_refused(other, "the layout of records changed: it was 'records of 100 bytes key=0:10' and is");
  other = options();
  other.input.paths.push_back(folder_ / "in");
  expect_refused(other, "it was begun with less and now there is INPUT");
  other = options();
  write_bytes(folder_ / "in", input_);
  expect_refused(other, "INPUT " + folder_.path() + "/in changed");
  other.checkpoint.restart = true;
  EXPECT_GE(expect_success(other).result.bytes_spilled, input_bytes());
}

TEST_F(CheckpointTest, of_another_format_is_refused) {
  end_before_merge();
  {
    Journal other(journal());
    other.clear();
    other.append("hetsort-checkpoint 999 1 1 1");
  }
  expect_refused(options(), "another version of hetsort wrote its journal");
}

TEST_F(CheckpointTest, serves_one_sort_at_a_time) {
  end_before_merge();
  const Journal held(journal());
  expect_refused(options(), "another sort uses it");
}

TEST_P(RecordsAndLines, a_process_that_is_dying_is_waited_for) {
  end_in("publish", options());
  io::File output = io::File::open_read(unfinished_output());
  ASSERT_EQ(::flock(output.descriptor(), LOCK_EX), 0);
  std::optional<Journal> held(journal());
  std::thread dying([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    output.close();
    held.reset();
  });
  expect_success(options());
  dying.join();
}

TEST_F(CheckpointTest, of_a_sort_that_ends_meanwhile_is_begun_anew) {
  end_before_merge();
  std::optional<Journal> held(journal());
  std::thread ending([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    std::filesystem::remove(journal());
    held.reset();
  });
  expect_success(options());
  ending.join();
}

TEST_F(CheckpointTest, with_larger_blocks_than_memory_has_room_for_is_refused) {
  SortOptions large = options();
  large.memory_bytes = std::uint64_t{64} << 20;
  end_in("merge_runs", large);
  SortOptions small = options();
  small.memory_bytes = std::uint64_t{1} << 20;
  expect_refused(small, "give as much memory as before");
  expect_success(large);
}

TEST_F(CheckpointTest, of_a_stream_is_refused) {
  Pipe in;
  SortOptions asked = options();
  asked.input.paths = {in.read_from(input_)};
  EXPECT_NE(run(asked).error.find("a stream cannot be read again"), std::string::npos);
  EXPECT_TRUE(kept_.names().empty());
}

TEST_F(CheckpointTest, in_several_folders_is_striped) {
  const Scratch second;
  SortOptions asked = options();
  asked.checkpoint.folders.push_back(second.path());
  asked.spill.directories = asked.checkpoint.folders;
  end_in("merge_runs", asked);
  EXPECT_EQ(second.names(), (std::set<std::string>{"hetsort.0.runs.1"}));
  EXPECT_EQ(expect_success(asked).result.bytes_spilled, 0U);
  EXPECT_TRUE(second.names().empty());
}

TEST_F(CheckpointTest, keeps_merged_runs_where_one_pass_cannot_merge_all) {
  SortOptions asked = options();
  asked.spill.max_merged_runs = 2;
  end_in("merge_runs", asked);
  EXPECT_EQ(expect_success(asked).result.bytes_spilled, 0U);
}

TEST_F(CheckpointTest, moves_to_another_output_and_removes_the_unfinished_one) {
  end_in("publish", options());
  const Scratch other;
  SortOptions asked = options();
  asked.output.paths = {other / "out"};
  EXPECT_EQ(run(asked).error, "");
  EXPECT_TRUE(read_bytes(other / "out") == expected_);
  EXPECT_EQ(folder_.names(), (std::set<std::string>{"expected", "in"}));
  end_in("publish", options());
  asked = options();
  asked.checkpoint.restart = true;
  expect_success(asked);
}

TEST_F(CheckpointTest, leaves_other_files_in_its_folder) {
  write_bytes(kept_ / "mine", input_);
  EXPECT_EQ(run(options()).error, "");
  EXPECT_EQ(kept_.names(), (std::set<std::string>{"mine"}));
}

TEST_F(CheckpointTest, of_an_empty_input_is_removed) {
  write_bytes(folder_ / "in", {});
  EXPECT_EQ(run(options()).error, "");
  EXPECT_TRUE(kept_.names().empty());
  EXPECT_TRUE(read_bytes(folder_ / "out").empty());
}

TEST(MissingSegments, are_what_no_run_has) {
  const std::vector<InputSegment> whole{{0, 1000, 50}, {1000, 500, 500}};
  const auto run = [](std::uint64_t first, std::uint64_t records) { return RecordRange{first, records}; };
  const auto left = [&](const std::vector<RecordRange>& runs) {
    std::vector<std::array<std::uint64_t, 3>> found;
    for (const InputSegment& segment : missing_segments(whole, runs, 10))
      found.push_back({segment.first_byte, segment.bytes, segment.first_record});
    return found;
  };
  using Found = std::vector<std::array<std::uint64_t, 3>>;
  EXPECT_EQ(left({}), (Found{{0, 1000, 50}, {1000, 500, 500}}));
  EXPECT_EQ(left({run(50, 10), run(70, 80), run(500, 50)}), (Found{{100, 100, 60}}));
  EXPECT_EQ(left({run(140, 10), run(510, 20)}), (Found{{0, 900, 50}, {1000, 100, 500}, {1300, 200, 530}}));
  EXPECT_EQ(left({run(0, 60), run(140, 400)}), (Found{{100, 800, 60}, {1400, 100, 540}})) << "runs of other shares";
}

TEST(JournalWords, carry_any_text) {
  for (const std::string& text :
       {std::string("a b%\n\xff"), std::string(), std::string("/plain/path"), std::string("%41")})
    EXPECT_EQ(text_of_word(as_word(text)), text);
}

}  // namespace
}  // namespace hetsort::sort::test
