// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A fault on one of several ranks in one process. The suites make the n-th file call of a job fail, for n = 1, 2, 3 ...
// until a job ends before the fault fires; flip a bit of a message; and let each rank throw at the beginning of each
// phase. All ranks must then end with the right output, or all with one message and the old output.
// The first HETSORT_TEST_DENSE calls are all tried, later ones in steps that are drawn from HETSORT_TEST_SEED.
#include <array>
#include <mutex>
#include <random>

#include "sort/output/output.h"
#include "tests/comm/harness.h"
#include "tests/machinery/fault_plan.h"
#include "tests/machinery/in_process.h"
#include "tests/sort/support.h"

namespace hetsort::sort::test {
namespace {

const RecordLayout kLayout{.record_bytes = 100, .key_offset = 40, .key_bytes = 12};
constexpr int kRanks = 3;

enum class Way : std::uint8_t { kOwnFiles, kOneFile, kSpilled, kStreams };

void PrintTo(Way way, std::ostream* stream) {
  constexpr std::array kNames{"own_files", "one_file", "spilled", "streams"};
  *stream << kNames.at(static_cast<std::size_t>(way));
}

struct Outcome {
  std::string conclusion;  // of all ranks; "" = success
  std::uint64_t fired = 0;
};

class DistributedFaults : public testing::TestWithParam<std::tuple<Way, comm::ExchangeMode>> {
 protected:
  DistributedFaults()
      : way_(std::get<0>(GetParam())),
        records_(
            make_records({Distribution::kFewKeys, kLayout, way_ == Way::kSpilled ? 20'000U : 3'000U, test_seed()})),
        expected_(reference_sort(records_, kLayout)) {
    in_process_.communicator.mode = std::get<1>(GetParam());
    in_process_.longest_delay_microseconds = 20;
    in_process_.communicator.stall_timeout_seconds = 10;
    write_bytes(folder_ / "in", records_);
    set_ranks(kRanks);
  }

  /// Writes the inputs again.
  void set_ranks(int ranks) {
    for (int rank = 0; rank < ranks_; ++rank)
      for (const std::string name : {"in.", "out."}) std::filesystem::remove(folder_ / (name + std::to_string(rank)));
    ranks_ = ranks;
    const std::uint64_t records = records_.size() / kLayout.record_bytes;
    std::size_t first = 0;
    for (int rank = 0; const std::uint64_t part : equal_parts(records, static_cast<std::uint64_t>(ranks))) {
      const std::size_t bytes = part * kLayout.record_bytes;
      write_bytes(folder_ / ("in." + std::to_string(rank++)), std::span(records_).subspan(first, bytes));
      first += bytes;
    }
  }

  bool has_own_outputs() const { return way_ == Way::kOwnFiles || way_ == Way::kSpilled; }

  SortOptions options() const {
    const bool own = has_own_outputs();
    SortOptions options =
        sort_of_files({folder_ / (own ? "in.{rank}" : "in")}, folder_ / (own ? "out.{rank}" : "out"), kLayout);
    options.memory_bytes = way_ == Way::kSpilled ? floor_memory(kLayout, 1) : std::uint64_t{64} << 20;
    options.hooks.block_bytes = way_ == Way::kSpilled ? 0 : 10'000;
    options.spill.directories = {temp_.path()};
    return options;
  }

  std::vector<std::string> outputs() const {
    if (!has_own_outputs()) return {folder_ / "out"};
    std::vector<std::string> paths;
    for (int rank = 0; rank < ranks_; ++rank) paths.push_back(folder_ / ("out." + std::to_string(rank)));
    return paths;
  }

  Outcome run(const std::string& plan, const SortOptions& asked) const {
    for (const std::string& path : outputs()) write_bytes(path, old_);
    SortOptions options = asked;
    Pipe in;
    Pipe out;
    if (way_ == Way::kStreams) {
      options.input.paths = {in.read_from(records_)};
      options.input.root_only = true;
      options.output.paths = {out.write_to()};
    }
    Outcome outcome;
    std::vector<machinery::RankEnd> ends;
    {
      const Faults faults(plan);
      ends = machinery::try_ranks(ranks_, schedule_, in_process_, [&](comm::Communicator& ranks) {
        Monitor monitor;
        SortOptions of_rank = options;
        if (at_phase_) of_rank.hooks.on_phase = [&](const std::string& phase) { at_phase_(ranks.rank(), phase); };
        RankResult result;
        sort_records(of_rank, ranks, monitor, result);
      });
      outcome.fired = machinery::faults_fired();
    }
    outcome.conclusion = ends.front().conclusion;
    for (const machinery::RankEnd& end : ends) {
      EXPECT_EQ(end.conclusion, outcome.conclusion);
      // A rank that had published before another failed throws nothing.
      if (outcome.conclusion.empty()) {
        EXPECT_EQ(end.message, "");
      }
    }
    in.finish();
    if (way_ == Way::kStreams) streamed_ = out.finish();
    return outcome;
  }

  Bytes output() const {
    if (way_ == Way::kStreams) return streamed_;
    Bytes all;
    for (const std::string& path : outputs()) {
      const Bytes own = read_bytes(path);
      all.insert(all.end(), own.begin(), own.end());
    }
    return all;
  }

  /// Expects the right output, or the old output and one message that names the rank and the reason. If each rank has
  /// an output of its own, some may be new, each of them complete.
  void expect_all_or_nothing(const Outcome& outcome, const std::string& reason, bool publishing) const {
    EXPECT_TRUE(temp_.names().empty());
    std::set<std::string> names{"in"};
    for (int rank = 0; rank < ranks_; ++rank) names.insert("in." + std::to_string(rank));
    for (const std::string& path : outputs()) names.insert(path.substr(path.rfind('/') + 1));
    EXPECT_EQ(folder_.names(), names) << outcome.conclusion;
    if (outcome.conclusion.empty()) {
      EXPECT_TRUE(output() == expected_) << "succeeded with wrong output";
      return;
    }
    EXPECT_NE(outcome.conclusion.find("rank "), std::string::npos) << outcome.conclusion;
    EXPECT_NE(outcome.conclusion.find(reason), std::string::npos) << outcome.conclusion;
    if (way_ == Way::kStreams) return;
    std::size_t replaced = 0;
    for (const std::string& path : outputs()) replaced += read_bytes(path) == old_ ? 0 : 1;
    if (!publishing) {
      EXPECT_EQ(replaced, 0U) << outcome.conclusion;
    }
    if (replaced == outputs().size()) {
      EXPECT_TRUE(output() == expected_) << outcome.conclusion;
    }
  }

  void loop(const std::string& kind, const std::string& fault, const std::function<void(const Outcome&)>& judge) const {
    SCOPED_TRACE(seed_note());
    std::mt19937_64 random(test_seed());
    const std::uint64_t dense = environment_number("HETSORT_TEST_DENSE", kSanitized ? 2 : 6);
    for (std::uint64_t n = 1;; n = next_call(n, dense, random)) {
      std::string plan = kind;
      plan.append(":").append(std::to_string(n)).append(":").append(fault);
      SCOPED_TRACE(plan);
      const Outcome outcome = run(plan, options());
      if (outcome.fired == 0) {
        EXPECT_EQ(outcome.conclusion, "");
        EXPECT_TRUE(output() == expected_);
        return;
      }
      judge(outcome);
      if (HasFailure()) return;
    }
  }

  const Way way_;
  Scratch folder_;
  Scratch temp_;
  Bytes records_;
  Bytes expected_;
  Bytes old_ = Bytes(777, std::byte{'o'});
  std::uint64_t schedule_ = test_seed();  ///< seeds the order in which messages arrive
  machinery::InProcessOptions in_process_;
  int ranks_ = kRanks;
  std::function<void(int rank, const std::string& phase)> at_phase_;
  mutable Bytes streamed_;
};

TEST_P(DistributedFaults, a_failing_call_on_one_rank_ends_all_ranks_with_one_message) {
  const auto fail = [&](const std::string& kind, const std::string& fault, const std::string& reason) {
    const bool publishing = kind == "link" || kind == "rename" || kind == "sync" || kind == "open" || kind == "stat";
    loop(kind, fault, [&](const Outcome& outcome) { expect_all_or_nothing(outcome, reason, publishing); });
  };
  fail("write", "ENOSPC", "No space left on device");
  for (const char* const kind : {"read", "open", "sync", "allocate", "truncate", "link", "rename", "stat", "chmod"})
    fail(kind, "EIO", "Input/output error");
}

TEST_P(DistributedFaults, short_and_interrupted_calls_change_nothing) {
  const auto expect_nothing = [&](const Outcome& outcome) {
    EXPECT_EQ(outcome.conclusion, "");
    EXPECT_TRUE(output() == expected_);
  };
  for (const char* const kind : {"read", "write"}) {
    loop(kind, "short", expect_nothing);
    loop(kind, "EINTR", expect_nothing);
  }
  for (const char* const plan : {"read:~3:short,write:~3:EINTR", "read:~2:EINTR,write:~4:short"})
    expect_nothing(run(plan, options()));
}

TEST_P(DistributedFaults, a_flipped_bit_of_a_message_never_gets_into_the_output) {
  SCOPED_TRACE(seed_note());
  const std::uint64_t most = environment_number("HETSORT_TEST_FLIPS", kSanitized ? 8 : 60);
  std::atomic<int> flipped{0};
  in_process_.flipped_bits = &flipped;
  int found = 0;
  constexpr std::uint64_t kMessages = 60;  // about as many as a run sends
  for (std::uint64_t n = 0; n < most; ++n) {
    in_process_.corrupt_message = 1 + n % kMessages;
    schedule_ = test_seed() + n / kMessages;
    in_process_.ranks_per_host = static_cast<int>(1 + n % 2);  // with 2, most blocks are in memory that ranks share
    SCOPED_TRACE("message " + std::to_string(1 + n % kMessages) + ", schedule " + std::to_string(schedule_));
    const Outcome outcome = run("", options());
    found += outcome.conclusion.empty() ? 0 : 1;
    EXPECT_EQ(found, flipped);
    expect_all_or_nothing(outcome, "network or memory changed it", false);
    if (HasFailure()) return;
  }
  EXPECT_GT(found, 0);
}

TEST_P(DistributedFaults, a_rank_that_throws_before_the_first_message_ends_all_ranks) {
  for (int victim = 0; victim < kRanks; ++victim) {
    int asked = 0;
    std::mutex mutex;
    SortOptions options = this->options();
    options.shares.output = [&, victim](const RecordsToShare& what) {
      const std::lock_guard lock(mutex);
      if (asked++ == victim) throw std::runtime_error("boom");
      return equal_shares(what.records, kRanks);
    };
    expect_all_or_nothing(run("", options), "boom", false);
  }
}

TEST_P(DistributedFaults, a_rank_that_throws_at_the_beginning_of_a_phase_ends_all_ranks) {
  for (const int ranks : kSanitized ? std::vector<int>{3} : std::vector<int>{2, 3, 4}) {
    set_ranks(ranks);
    std::set<std::pair<int, std::string>> begun;
    std::mutex mutex;
    at_phase_ = [&](int rank, const std::string& phase) {
      const std::lock_guard lock(mutex);
      begun.emplace(rank, phase);
    };
    EXPECT_EQ(run("", options()).conclusion, "");
    EXPECT_TRUE(output() == expected_);
    EXPECT_GE(begun.size(), static_cast<std::size_t>(5 * ranks));
    for (const auto& [victim, phase] : begun) {
      SCOPED_TRACE(phase + " on rank " + std::to_string(victim) + " of " + std::to_string(ranks));
      at_phase_ = [victim = victim, &phase = phase](int rank, const std::string& now) {
        if (rank == victim && now == phase) throw std::runtime_error("boom in " + phase);
      };
      const Outcome outcome = run("", options());
      EXPECT_NE(outcome.conclusion, "");
      expect_all_or_nothing(outcome, "rank " + std::to_string(victim), false);
      EXPECT_NE(outcome.conclusion.find("boom in " + phase), std::string::npos) << outcome.conclusion;
      if (HasFailure()) return;
    }
  }
}

TEST(DistributedInput, that_is_a_stream_of_unknown_size_is_refused) {
  const Scratch folder;
  const Bytes records = make_records({Distribution::kUniform, kLayout, 1000, test_seed()});
  for (const bool own : {true, false}) {
    Pipe pipe;
    const std::string path = pipe.read_from(records);
    // If each rank has an input of its own, only rank 1's is a stream.
    write_bytes(folder / "in.0", records);
    std::filesystem::remove(folder / "in.1");
    std::filesystem::create_symlink(path, folder / "in.1");
    SortOptions options = sort_of_files({own ? folder / "in.{rank}" : path}, folder / "out.{rank}", kLayout);
    options.memory_bytes = std::uint64_t{64} << 20;
    for (const machinery::RankEnd& end : machinery::try_ranks(2, test_seed(), {}, [&](comm::Communicator& ranks) {
           Monitor monitor;
           RankResult result;
           sort_records(options, ranks, monitor, result);
         }))
      EXPECT_NE(end.conclusion.find("unknown size"), std::string::npos) << end.conclusion;
    EXPECT_EQ(folder.names(), (std::set<std::string>{"in.0", "in.1"}));
  }
}

/// All pairs; sanitizers try each way and each mode once.
std::vector<std::tuple<Way, comm::ExchangeMode>> ways_and_modes() {
  using enum Way;
  using enum comm::ExchangeMode;
  if (kSanitized) return {{kOneFile, kInline}, {kSpilled, kThread}, {kStreams, kThreads}};
  std::vector<std::tuple<Way, comm::ExchangeMode>> pairs;
  for (const Way way : {kOwnFiles, kOneFile, kSpilled, kStreams})
    for (const comm::ExchangeMode mode : {kInline, kThread, kThreads}) pairs.emplace_back(way, mode);
  return pairs;
}

INSTANTIATE_TEST_SUITE_P(Ways, DistributedFaults, testing::ValuesIn(ways_and_modes()));

/// A rank that opened the output late would report a missing file instead of rank 0's reason.
TEST(SharedOutput, that_rank_0_abandons_at_once_was_opened_by_all_other_ranks) {
  const Scratch folder;
  const Faults late("open:1+:delay20");
  for (const machinery::RankEnd& end : machinery::try_ranks(4, test_seed(), {}, [&](comm::Communicator& ranks) {
         const Output output(
             {.options = {.paths = {folder / "out"}, .sync = false, .verify = true}, .access = io::Access::kBuffered},
             ranks);
       }))
    EXPECT_EQ(end.message, "");
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace
}  // namespace hetsort::sort::test
