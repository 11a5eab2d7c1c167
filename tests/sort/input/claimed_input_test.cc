// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranks that claim one shared input piece by piece, each as slow as a seed makes it: the output must not depend on who
// got what. In one process and under mpirun. HETSORT_TEST_SEED draws another sample, HETSORT_TEST_CASES a larger one.
#include <optional>

#include "sort/input/claim_table.h"
#include "sort/input/claimed_segments.h"
#include "sort/plan/plan_sort.h"
#include "tests/sort/job_case.h"

namespace hetsort::sort::test {
namespace {

struct Race : JobCase {
  std::uint64_t more_memory_bytes = 0;  ///< bytes beyond the floor, where memory is not ample
  std::uint64_t corrupt_message = 0;    ///< see machinery::InProcessOptions
  std::size_t files = 1;
  std::uint64_t claim_bytes = 1;
  std::vector<int> pause_microseconds;  ///< maximum pause of each rank before a claim
  int waiting_rank = -1;                ///< rank that waits at its second claim until the others have all they get
  int failing_rank = -1;                ///< rank that fails at its third claim
  std::string message{};                ///< message with which the job ends
};

std::string describe(const Race& race) {
  std::ostringstream text;
  text << describe_job(race) << ", " << race.files << " files, claims of " << race.claim_bytes << ", pauses";
  for (const int pause : race.pause_microseconds) text << " " << pause;
  return text.str();
}

Race draw_race(std::uint64_t seed) {
  Dice dice(seed);
  Race race;
  draw_job(dice, race);
  race.mode = seed % 2 == 0 ? comm::ExchangeMode::kThread : comm::ExchangeMode::kThreads;
  race.files = dice.one_of<std::size_t>({1, 1, 3});
  race.claim_bytes = dice.one_of<std::uint64_t>({1, 10 * race.input.layout.record_bytes, 20'000, 300'000});
  for (int rank = 0; rank < race.ranks; ++rank) race.pause_microseconds.push_back(dice.one_of({0, 0, 100, 1000, 4000}));
  return race;
}

void write_inputs(const Race& race, JobFolder& folder) {
  std::uint64_t first = 0;
  const Shares shares = equal_shares(race.input.records, race.files);
  for (std::size_t file = 0; file < race.files; ++file) {
    const std::uint64_t bytes = shares.records[file] * race.input.layout.record_bytes;
    folder.write_input("in" + std::to_string(file), folder.records().subspan(first, bytes));
    first += bytes;
  }
}

/// Signals between the ranks of a job. They are files, because the ranks may be processes.
class Signals {
 public:
  explicit Signals(std::string folder) : folder_(std::move(folder)) {}

  void say_done(int rank) const { std::ofstream(path(rank)).put('.'); }
  /// Until all but `rank` are done.
  void wait_for_others(int rank, int ranks) const {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    for (int other = 0; other < ranks; ++other) {
      while (other != rank && !std::filesystem::remove(path(other))) {
        ASSERT_LT(std::chrono::steady_clock::now(), give_up) << "rank " << other << " never ended";
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
  }

 private:
  std::string path(int rank) const { return folder_ + "/done" + std::to_string(rank); }

  std::string folder_;
};

SortOptions options_of(const Race& race, const std::string& folder, int rank) {
  SortOptions options = job_options(race, folder);
  for (std::size_t file = 0; file < race.files; ++file)
    options.input.paths.push_back(folder + "/in" + std::to_string(file));
  options.shares.output_by_rates = race.ranks > 1;
  options.input.min_claim_bytes = race.claim_bytes;
  options.memory_bytes += race.more_memory_bytes;
  options.hooks.on_claim = [&race, rank, claims = 0, signals = Signals(folder),
                            dice =
                                Dice(race.input.seed + static_cast<std::uint64_t>(rank))](const Claim& claim) mutable {
    ++claims;
    if (rank == race.failing_rank && claims == 3) throw std::runtime_error("boom");
    if (rank == race.waiting_rank && claims == 2) signals.wait_for_others(rank, race.ranks);
    if (race.waiting_rank >= 0 && rank != race.waiting_rank && claim.records == 0) signals.say_done(rank);
    const int longest = race.pause_microseconds[static_cast<std::size_t>(rank)];
    if (longest > 0)
      std::this_thread::sleep_for(std::chrono::microseconds(dice.number() % static_cast<std::uint64_t>(longest)));
  };
  return options;
}

/// What each rank of this process read; of failing jobs nothing.
std::vector<MultisetDigest> run(const Race& race, const std::string& folder, bool& failed) {
  machinery::InProcessOptions in_process = job_messages(race);
  in_process.corrupt_message = race.corrupt_message;
  std::vector<MultisetDigest> read(static_cast<std::size_t>(race.ranks));
  const auto body = [&](comm::Communicator& ranks) {
    SCOPED_TRACE(describe(race) + ", rank " + std::to_string(ranks.rank()));
    Monitor monitor;
    RankResult result;
    sort_records(options_of(race, path_for_all(folder, ranks), ranks.rank()), ranks, monitor, result);
    EXPECT_EQ(result.planned_input_records, result.input.records);
    EXPECT_EQ(result.output.records, result.planned_output_records);
    EXPECT_TRUE(result.in_memory || !race.ample_memory);
    std::vector<std::uint64_t> sum{result.input.records};
    ranks.all_reduce_sum(sum);
    EXPECT_EQ(sum[0], race.input.records);
    read[static_cast<std::size_t>(ranks.rank())] = result.input;
  };
  for (const machinery::RankEnd& end : run_once(race.ranks, race.input.seed, in_process, body)) {
    if (race.corrupt_message != 0) {
      failed = !end.conclusion.empty();
      if (!failed) continue;
    }
    EXPECT_EQ(end.conclusion.empty(), race.message.empty()) << end.conclusion;
    EXPECT_NE(end.conclusion.find(race.message), std::string::npos) << end.conclusion;
  }
  return read;
}

std::vector<MultisetDigest> sort_and_judge(const Race& race) {
  SCOPED_TRACE(describe(race));
  std::optional<JobFolder> folder;
  if (has_first_rank()) write_inputs(race, folder.emplace(race));
  bool failed = race.corrupt_message == 0 && !race.message.empty();
  std::vector<MultisetDigest> read = run(race, folder ? folder->path() : "", failed);
  if (folder) failed ? folder->expect_only_inputs() : folder->judge();
  return read;
}

class ClaimedInput : public testing::TestWithParam<std::uint64_t> {};

TEST_P(ClaimedInput, equals_an_independent_stable_sort_for_all_orders_of_claims) {
  SCOPED_TRACE(seed_note());
  sort_and_judge(draw_race(case_seed(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(Sample, ClaimedInput, cases(96, 24));

/// Four ranks, of which the second is slow. All keys are equal, so the places in the input alone decide the order.
Race one_slow_rank() {
  Race race;
  race.input = {Distribution::kAllEqual, {100, 0, 10}, 40'000, test_seed()};
  race.ranks = ranks_for(4);
  race.claim_bytes = 10'000;
  race.pause_microseconds.assign(static_cast<std::size_t>(race.ranks), 0);
  race.pause_microseconds[static_cast<std::size_t>(race.ranks) / 2] = 20'000;
  return race;
}

TEST(ClaimedInputOf, equal_keys_stays_in_input_order) {
  for (const bool ample : {true, false}) {
    Race race = one_slow_rank();
    race.ample_memory = ample;
    sort_and_judge(race);
  }
}

TEST(ClaimedInputOf, few_keys_in_many_buckets_stays_in_input_order) {
  // What was sampled of a slice may be claimed by others: no bucket then begins with it.
  for (const Distribution keys : {Distribution::kFewKeys, Distribution::kAllEqual, Distribution::kUniform}) {
    Race race = one_slow_rank();
    race.input = {keys, {16, 0, 10}, kSanitized ? 150'000U : 400'000U, test_seed()};
    race.claim_bytes = 30'000;
    sort_and_judge(race);
  }
}

TEST(ClaimedInputOf, a_slow_rank_is_relieved_of_its_records) {
  Race race = one_slow_rank();
  if (race.ranks == 1) return;
  const auto slow = static_cast<std::size_t>(race.ranks) / 2;
  race.waiting_rank = static_cast<int>(slow);
  const std::vector<MultisetDigest> read = sort_and_judge(race);
  // It keeps a sixteenth and another, and what is too little for a claim.
  const std::uint64_t slice = race.input.records / static_cast<std::uint64_t>(race.ranks);
  EXPECT_LT(read[slow].records, slice / 4);
}

TEST(ClaimedInputOf, what_a_rank_only_asked_to_read_is_not_its_rate) {
  machinery::InProcessOptions in_process;
  in_process.communicator.mode = comm::ExchangeMode::kThread;
  run_once(ranks_for(2), test_seed(), in_process, [](comm::Communicator& ranks) {
    constexpr std::uint64_t kSlice = 10'000;
    std::vector<std::uint64_t> claimed;
    ClaimedSegments segments({.records = kSlice * static_cast<std::uint64_t>(ranks.size()),
                              .record_bytes = 1,
                              .smallest_bytes = 1,
                              .on_claim = [&](const Claim& claim) { claimed.push_back(claim.records); }},
                             ranks);
    segments.start(kSlice * static_cast<std::uint64_t>(ranks.size()), [&](std::span<const std::uint64_t> most) {
      return ClaimPlan{std::vector<std::uint64_t>(most.size(), kSlice), {most.begin(), most.end()}};
    });
    if (ranks.rank() == 1) {
      segments.next();
      segments.claim(kSlice / 16);      // asks for the next piece
      segments.claim(kSlice / 16 + 1);  // waits for it
      EXPECT_EQ(claimed, (std::vector<std::uint64_t>{kSlice / 16, (kSlice - kSlice / 16) / 16}));
    }
    std::vector<std::uint64_t> arrived{1};
    ranks.all_reduce_sum(arrived);  // rank 0 steals only now
    while (const std::optional<InputSegment> segment = segments.next()) segments.claim(segment->bytes);
    ranks.all_reduce_sum(arrived);  // nobody asks any more
  });
}

TEST(ClaimedInputOf, ranks_with_little_memory_leaves_them_what_it_holds) {
  // From what is too little for the own slice to what holds all of the input.
  for (std::uint64_t more = 500'000; more < 8'000'000; more += kSanitized ? 2'500'000 : 500'000) {
    Race race = one_slow_rank();
    race.ample_memory = false;
    race.more_memory_bytes = more;
    sort_and_judge(race);
  }
}

TEST(ClaimedInputOf, corrupt_messages_are_found_out) {
  for (std::uint64_t message = 30; message <= 70; message += kSanitized ? 7 : 1) {
    Race race = one_slow_rank();
    race.corrupt_message = message;
    race.message = "network or memory changed it";
    race.pause_microseconds.assign(race.pause_microseconds.size(), 0);
    sort_and_judge(race);
    if (HasFailure()) return;
  }
}

TEST(ClaimedInputOf, inline_ranks_is_read_in_equal_shares) {
  Race race = one_slow_rank();
  race.mode = comm::ExchangeMode::kInline;
  const std::vector<MultisetDigest> read = sort_and_judge(race);
  if (has_first_rank()) {
    EXPECT_EQ(read[0].records, equal_shares(race.input.records, read.size()).records[0]);
  }
}

TEST(ClaimedInputOf, many_ranks_does_not_spill_what_fits_in_equal_shares) {
  const Scratch folder;  // of rank 0 counts
  write_bytes(folder / "in", Bytes(20'000'000));
  std::atomic<int> spilling{0};
  run_once(ranks_for(8), test_seed(), {}, [&](comm::Communicator& ranks) {
    const std::string path = path_for_all(folder.path(), ranks);
    SortOptions options = sort_of_files({path + "/in"}, path + "/out", {});
    options.spill.directories = {std::filesystem::temp_directory_path().string()};
    options.threads = 8;
    options.memory_bytes = std::uint64_t{64} << 20;
    for (const bool claims : {false, true}) {
      options.shares.output_by_rates = claims;
      spilling += plan_sort(options, ranks).spills ? 1 : 0;
    }
  });
  EXPECT_EQ(spilling, 0);
}

TEST(ClaimedInputOf, a_job_whose_rank_fails_while_it_claims_ends_on_all_ranks) {
  for (int victim = 0; victim < 4; ++victim) {
    for (const bool ample : {true, false}) {
      Race race = one_slow_rank();
      if (race.ranks == 1) return;
      race.ample_memory = ample;
      race.failing_rank = victim % race.ranks;
      std::ranges::fill(race.pause_microseconds, 200'000);  // so that nobody is done before it fails
      race.pause_microseconds[static_cast<std::size_t>(race.failing_rank)] = 0;
      race.message = "boom";
      sort_and_judge(race);
    }
  }
}

}  // namespace
}  // namespace hetsort::sort::test
