// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranges of a shared output that move between ranks at random while they are merged: the output must not depend on
// which rank merged what. In one process and under mpirun. HETSORT_TEST_SEED draws another sample, HETSORT_TEST_CASES
// a larger one.
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>

#include "tests/sort/job_case.h"

namespace hetsort::sort::test {
namespace {

struct RedealCase : JobCase {
  std::uint64_t parts = 1;
  std::uint64_t more_memory_bytes = 0;  ///< bytes beyond the floor, where memory is not ample
  std::uint64_t block_bytes = 0;
  std::uint64_t partly_ranks = 0;  ///< bit r: rank r has ample memory, whatever the others have
  bool verify = false;
  bool shares_are_asked_for = false;
  int longest_pause_microseconds = 0;  ///< pause of a thread before a range
  int failing_rank = -1;               ///< rank that fails at its third range
  std::uint64_t corrupt_message = 0;   ///< see InProcessOptions
  std::string message{};               ///< message with which the job ends
};

std::string describe(const RedealCase& deal) {
  std::ostringstream text;
  text << describe_job(deal) << ", " << deal.parts << " parts, blocks of " << deal.block_bytes;
  return text.str();
}

RedealCase draw_redeal(std::uint64_t seed) {
  Dice dice(seed);
  RedealCase deal;
  draw_job(dice, deal);
  deal.ranks = ranks_for(static_cast<int>(2 + dice.number() % 5));
  deal.mode = seed % 2 == 0 ? comm::ExchangeMode::kThread : comm::ExchangeMode::kThreads;
  deal.parts = dice.one_of<std::uint64_t>({1, 2, 3, 7, 16});
  deal.block_bytes = dice.one_of<std::uint64_t>({0, 5000, 20'000});
  deal.more_memory_bytes = dice.one_of<std::uint64_t>({0, 100'000, 1'000'000});
  deal.partly_ranks = dice.one_of<std::uint64_t>({0, 0, 1, 2});
  deal.verify = dice.number() % 3 == 0;
  deal.longest_pause_microseconds = dice.one_of({0, 500, 3000});
  return deal;
}

SortOptions options_of(const RedealCase& deal, const std::string& folder, int rank) {
  SortOptions options = job_options(deal, folder);
  options.input.paths = {folder + "/in"};
  options.input.min_claim_bytes = 20'000;
  options.shares.output_by_rates = deal.ranks > 1 && !deal.shares_are_asked_for;
  options.memory_bytes += deal.more_memory_bytes;
  if ((deal.partly_ranks >> rank) % 2 == 1) options.memory_bytes += std::uint64_t{64} << 20;
  options.output.verify = deal.verify;
  options.output.sync = deal.verify;
  options.hooks.block_bytes = deal.block_bytes;
  if (deal.input.seed % 4 == 0) options.hooks.min_stream_bytes.reset();
  options.hooks.redeal = {.parts = deal.parts, .seed = deal.input.seed};
  options.hooks.redeal.before_range = [ranges = std::make_shared<std::atomic<int>>(0), rank, &deal] {
    const int number = ++*ranges;
    if (rank == deal.failing_rank && number == 3) throw std::runtime_error("boom");
    // The others give the one that fails time, or they might take its ranges from it.
    if (deal.failing_rank >= 0 && rank != deal.failing_rank && number >= 3)
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
    if (deal.longest_pause_microseconds == 0) return;
    Dice dice(deal.input.seed + static_cast<std::uint64_t>(1000 * rank + number));
    std::this_thread::sleep_for(
        std::chrono::microseconds(dice.number() % static_cast<std::uint64_t>(deal.longest_pause_microseconds)));
  };
  return options;
}

/// What ranks did in place of others.
struct Moved {
  std::uint64_t ranges = 0;
  std::uint64_t copied = 0;  ///< ranks whose runs were copied, of all ranks
};

Moved sort_and_judge(const RedealCase& deal) {
  SCOPED_TRACE(describe(deal));
  std::optional<JobFolder> folder;
  if (has_first_rank()) folder.emplace(deal).write_input("in", folder->records());
  const std::string path = folder ? folder->path() : "";
  Moved moved;
  std::mutex mutex;  // guards it, where ranks are threads
  const auto body = [&](comm::Communicator& ranks) {
    SCOPED_TRACE(describe(deal) + ", rank " + std::to_string(ranks.rank()));
    Monitor monitor;
    RankResult result;
    sort_records(options_of(deal, path_for_all(path, ranks), ranks.rank()), ranks, monitor, result);
    std::array<std::uint64_t, 3> sums{result.output.records, 0, result.copied.size()};
    for (const RankResult::CopiedRuns& copied : result.copied) {
      EXPECT_NE(copied.from, static_cast<std::size_t>(ranks.rank()));
      EXPECT_TRUE(result.in_memory) << "copies lie beside runs in memory";
    }
    for (const RankResult::TakenRanges& taken : result.taken) {
      EXPECT_NE(taken.from, static_cast<std::size_t>(ranks.rank()));
      sums[1] += taken.ranges;
    }
    ranks.all_reduce_sum(sums);
    EXPECT_EQ(sums[0], deal.input.records);
    const std::lock_guard lock(mutex);
    moved = {sums[1], sums[2]};
  };
  machinery::InProcessOptions in_process = job_messages(deal);
  in_process.corrupt_message = deal.corrupt_message;
  bool failed = deal.corrupt_message == 0 && !deal.message.empty();
  for (const machinery::RankEnd& end : run_once(deal.ranks, deal.input.seed, in_process, body)) {
    // The corrupt message may be one that the job does not send.
    if (deal.corrupt_message != 0) failed = !end.conclusion.empty();
    EXPECT_EQ(end.conclusion.empty(), !failed) << end.conclusion;
    if (failed) {
      EXPECT_NE(end.conclusion.find(deal.message), std::string::npos) << end.conclusion;
    }
  }
  if (folder) failed ? folder->expect_only_inputs() : folder->judge();
  return moved;
}

class Redeal : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Redeal, equals_an_independent_stable_sort_whatever_moves) { sort_and_judge(draw_redeal(case_seed(GetParam()))); }

INSTANTIATE_TEST_SUITE_P(Sample, Redeal, cases(60, 20));

RedealCase many_ranges() {
  RedealCase deal;
  deal.ranks = ranks_for(3);
  deal.input.records = kSanitized ? 5'000 : 50'000;
  deal.input.distribution = Distribution::kFewKeys;
  deal.input.seed = 7;
  deal.threads = 2;
  deal.parts = 8;
  return deal;
}

TEST(RedealOf, a_shared_output_moves_ranges_between_ranks) {
  const RedealCase deal = many_ranges();
  if (deal.ranks > 1) {
    const Moved moved = sort_and_judge(deal);
    EXPECT_GT(moved.ranges, 0);
    EXPECT_GT(moved.copied, 0);
  }
}

TEST(RedealOf, spilled_runs_moves_ranges_between_ranks) {
  RedealCase deal = many_ranges();
  deal.ample_memory = false;
  deal.input.records *= 4;
  if (deal.ranks > 1) {
    EXPECT_GT(sort_and_judge(deal).ranges, 0);
  }
}

TEST(RedealOf, a_rank_that_communicates_only_while_it_waits_moves_nothing) {
  RedealCase deal = many_ranges();
  deal.mode = comm::ExchangeMode::kInline;
  EXPECT_EQ(sort_and_judge(deal).ranges, 0);
}

TEST(RedealOf, shares_that_were_asked_for_moves_nothing) {
  RedealCase deal = many_ranges();
  deal.shares_are_asked_for = true;
  EXPECT_EQ(sort_and_judge(deal).ranges, 0);
}

TEST(RedealOf, a_job_whose_rank_fails_while_ranges_move_ends_on_all_ranks) {
  const bool had_printed = comm::has_printed_failure();
  for (int victim = 0; victim < 3; ++victim) {
    RedealCase deal = many_ranges();
    if (deal.ranks == 1) return;
    deal.failing_rank = victim % deal.ranks;
    deal.longest_pause_microseconds = 2000;
    deal.message = "boom";
    sort_and_judge(deal);
  }
  EXPECT_EQ(comm::has_printed_failure(), had_printed) << "a rank went on for long after another had failed";
}

TEST(RedealOf, corrupt_messages_are_found_out) {
  // Message 40 is before the exchange, message 400 within it.
  for (std::uint64_t message = 40; message <= 400; message += kSanitized ? 30 : 7) {
    RedealCase deal = many_ranges();
    deal.input.records /= 5;
    deal.corrupt_message = message;
    deal.message = "network or memory changed it";
    sort_and_judge(deal);
    if (HasFailure()) return;
  }
}

/// Lines of text with many equal ones, cut nowhere near equal numbers of bytes.
std::string draw_text(Dice& dice, std::size_t lines) {
  std::string text;
  for (std::size_t line = 0; line < lines; ++line) {
    text += std::to_string(dice.number() % 3000);
    text.append(dice.number() % 500 == 0 ? 4000 : dice.number() % 20, 'x');
    text += '\n';
  }
  return text;
}

std::string sorted_text(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream from(text);
  for (std::string line; std::getline(from, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  std::string sorted;
  for (const std::string& line : lines) sorted += line + '\n';
  return sorted;
}

class RedealLines : public testing::TestWithParam<std::uint64_t> {};

TEST_P(RedealLines, equals_the_sorted_text) {
  Dice dice(case_seed(GetParam()));
  RedealCase deal;
  deal.ranks = ranks_for(3);
  deal.input.seed = dice.number();
  deal.threads = 2;
  deal.parts = 5;
  deal.ample_memory = GetParam() % 2 == 0;
  deal.more_memory_bytes = std::uint64_t{3} << 20;
  deal.input.layout = plain_lines();
  const std::string text = draw_text(dice, kSanitized ? 10'000 : 60'000);
  std::optional<Scratch> folder;
  if (has_first_rank()) {
    folder.emplace(std::filesystem::temp_directory_path().string());
    write_bytes(*folder / "in", std::as_bytes(std::span(text)));
  }
  const std::string path = folder ? folder->path() : "";
  const auto body = [&](comm::Communicator& ranks) {
    Monitor monitor;
    RankResult result;
    sort_records(options_of(deal, path_for_all(path, ranks), ranks.rank()), ranks, monitor, result);
  };
  for (const machinery::RankEnd& end : run_once(deal.ranks, deal.input.seed, job_messages(deal), body))
    EXPECT_EQ(end.conclusion, "");
  if (!folder) return;
  const Bytes found = read_bytes(*folder / "out");
  EXPECT_TRUE(std::string(reinterpret_cast<const char*>(found.data()), found.size()) == sorted_text(text));
}

INSTANTIATE_TEST_SUITE_P(Sample, RedealLines, cases(4, 2));

}  // namespace
}  // namespace hetsort::sort::test
