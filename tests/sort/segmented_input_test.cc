// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranks that take their inputs in segments, dealt over all of them like cards: each forms several runs, which lie
// between those of others in the whole input. In one process and under mpirun. HETSORT_TEST_SEED draws another sample,
// HETSORT_TEST_CASES a larger one.
#include <optional>
#include <sstream>

#include "tests/sort/comm_harness.h"
#include "tests/sort/support.h"

namespace hetsort::sort::test {
namespace {

/// Who takes which records of the whole input, in the order in which they are taken.
struct Deal {
  InputRequest input;
  int ranks = 1;
  ExchangeMode mode = ExchangeMode::kThread;
  bool ample_memory = true;
  std::size_t threads = 1;
  std::uint64_t block_bytes = 0;
  std::vector<std::vector<InputSegment>> of_rank;
};

std::string describe(const Deal& deal) {
  std::ostringstream text;
  text << name_of(deal.input.distribution) << ", " << deal.input.records << " records of "
       << deal.input.layout.record_bytes << " bytes, key of " << deal.input.layout.key_bytes << ", " << deal.ranks
       << " ranks, mode " << name_of(deal.mode) << ", " << (deal.ample_memory ? "ample" : "tight") << " memory, "
       << deal.threads << " threads, blocks of " << deal.block_bytes << ", segments";
  for (const std::vector<InputSegment>& segments : deal.of_rank) {
    text << " |";
    for (const InputSegment& segment : segments) text << " " << segment.first_record << ":" << segment.bytes;
  }
  return text.str();
}

/// Cuts the whole input into `count` segments, some of them empty, and deals them.
std::vector<std::vector<InputSegment>> deal_segments(const InputRequest& input, std::size_t ranks, std::size_t count,
                                                     Dice& dice) {
  std::vector<std::uint64_t> borders{0, input.records};
  for (std::size_t i = 1; i < count; ++i) borders.push_back(dice.number() % (input.records + 1));
  std::ranges::sort(borders);
  std::vector<std::vector<InputSegment>> of_rank(ranks);
  for (std::size_t i = 0; i + 1 < borders.size(); ++i)
    of_rank[dice.number() % ranks].push_back(
        {0, (borders[i + 1] - borders[i]) * input.layout.record_bytes, borders[i]});
  for (std::vector<InputSegment>& segments : of_rank) {
    if (dice.number() % 4 == 0) std::ranges::reverse(segments);
    std::uint64_t first_byte = 0;
    for (InputSegment& segment : segments) {
      segment.first_byte = first_byte;
      first_byte += segment.bytes;
    }
  }
  return of_rank;
}

Deal draw_deal(std::uint64_t seed) {
  Dice dice(seed);
  Deal deal;
  deal.ranks = ranks_for(static_cast<int>(1 + dice.number() % 8));
  RecordLayout& layout = deal.input.layout;
  layout.record_bytes = dice.one_of<std::size_t>({16, 100, 100, 257, 5000});
  layout.key_bytes = dice.one_of<std::size_t>({3, 10, 10, 14});
  deal.input.distribution = dice.one_of(kDistributions);
  deal.input.records = dice.one_of<std::size_t>({0, 1, 1000, 1000, 30'000}) * 100 / layout.record_bytes;
  deal.input.seed = dice.number();
  deal.mode = static_cast<ExchangeMode>(seed % 3);
  deal.ample_memory = dice.number() % 3 != 0;
  deal.threads = dice.one_of<std::size_t>({1, 1, 2, 3});
  deal.block_bytes = dice.one_of<std::uint64_t>({0, 3 * layout.record_bytes, 5000});
  deal.of_rank = deal_segments(deal.input, static_cast<std::size_t>(deal.ranks),
                               dice.one_of<std::size_t>({1, 3, 8, 20, 40}), dice);
  return deal;
}

/// The files of a job. Of the process that has rank 0.
class Files {
 public:
  explicit Files(const Deal& deal)
      : deal_(deal),
        records_(make_records(deal.input)),
        folder_(deal.input.seed % 2 == 0 ? io::test::memory_folder()
                                         : std::filesystem::temp_directory_path().string()) {
    const std::size_t record_bytes = deal.input.layout.record_bytes;
    for (std::size_t rank = 0; rank < deal.of_rank.size(); ++rank) {
      Bytes own;
      for (const InputSegment& segment : deal.of_rank[rank]) {
        const auto part = std::span(records_).subspan(segment.first_record * record_bytes, segment.bytes);
        own.insert(own.end(), part.begin(), part.end());
      }
      write_bytes(folder_ / ("in." + std::to_string(rank)), own);
    }
  }

  Bytes path() const {
    const auto bytes = std::as_bytes(std::span(folder_.path()));
    return {bytes.begin(), bytes.end()};
  }

  void judge() const {
    const Bytes output = read_bytes(folder_ / "out");
    EXPECT_TRUE(is_sorted_form(output, records_, deal_.input.layout));
    EXPECT_EQ(folder_.names().size(), deal_.of_rank.size() + 1);
  }

 private:
  const Deal& deal_;
  Bytes records_;
  Scratch folder_;
};

SortOptions options_of(const Deal& deal, const Bytes& path, int rank) {
  const std::string folder(reinterpret_cast<const char*>(path.data()), path.size());
  // One rank alone has no {rank}.
  SortOptions options{.inputs = {folder + (deal.ranks == 1 ? "/in.0" : "/in.{rank}")},
                      .output = folder + "/out",
                      .layout = deal.input.layout};
  options.segments = [segments = deal.of_rank[static_cast<std::size_t>(rank)]](std::uint64_t, std::uint64_t) {
    return std::make_unique<ListedSegments>(segments);
  };
  options.temp_directories = {std::filesystem::temp_directory_path().string()};
  options.threads = deal.threads;
  options.memory_bytes = floor_memory(options.layout, options.threads);
  if (deal.ample_memory) options.memory_bytes += std::uint64_t{512} << 20;
  options.sync = false;
  options.block_bytes = deal.block_bytes;
  return options;
}

std::size_t filled_segments(const std::vector<InputSegment>& segments) {
  return static_cast<std::size_t>(
      std::ranges::count_if(segments, [](const InputSegment& segment) { return segment.bytes > 0; }));
}

void sort_and_judge(const Deal& deal) {
  SCOPED_TRACE(describe(deal));
  std::optional<Files> files;
  if (has_first_rank()) files.emplace(deal);
  InProcessOptions in_process;
  in_process.communicator.mode = deal.mode;
  in_process.longest_delay_microseconds = 50;
  const auto body = [&](Communicator& ranks) {
    SCOPED_TRACE(describe(deal) + ", rank " + std::to_string(ranks.rank()));
    const Bytes path = ranks.broadcast(ranks.rank() == 0 ? files->path() : Bytes{});
    Monitor monitor;
    RankResult result;
    sort_records(options_of(deal, path, ranks.rank()), ranks, monitor, result);
    const std::size_t segments = filled_segments(deal.of_rank[static_cast<std::size_t>(ranks.rank())]);
    if (result.in_memory) {
      EXPECT_EQ(result.runs, segments);
    }
    EXPECT_TRUE(result.in_memory || !deal.ample_memory);
  };
  for (const RankEnd& end : run_once(deal.ranks, deal.input.seed, in_process, body)) EXPECT_EQ(end.conclusion, "");
  if (files) files->judge();
}

class SegmentedInput : public testing::TestWithParam<std::uint64_t> {};

TEST_P(SegmentedInput, dealt_over_ranks_gives_what_an_independent_stable_sort_gives) {
  SCOPED_TRACE(seed_note());
  sort_and_judge(draw_deal(test_seed() * 1'000'003 + GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Sample, SegmentedInput,
                         testing::Range(std::uint64_t{0},
                                        environment_number("HETSORT_TEST_CASES", kSanitized ? 20 : 80)));

/// Runs of three ranks in turn, all of one key: only their places in the whole input tell the order.
Deal equal_keys_in_turn(bool ample_memory) {
  Deal deal;
  deal.input = {Distribution::kAllEqual, {100, 0, 10}, 60'000, test_seed()};
  deal.ranks = ranks_for(3);
  deal.ample_memory = ample_memory;
  deal.of_rank.resize(static_cast<std::size_t>(deal.ranks));
  constexpr std::uint64_t kSegments = 12;
  const std::uint64_t each = deal.input.records / kSegments;
  for (std::uint64_t segment = 0; segment < kSegments; ++segment) {
    std::vector<InputSegment>& own = deal.of_rank[segment % deal.of_rank.size()];
    own.push_back({own.size() * each * 100, each * 100, segment * each});
  }
  return deal;
}

TEST(SegmentedInputOf, equal_keys_stays_in_input_order_though_ranks_take_turns) {
  sort_and_judge(equal_keys_in_turn(true));
  sort_and_judge(equal_keys_in_turn(false));
}

TEST(SegmentedInputOf, more_runs_than_memory_merges_neighbours_only) {
  // Every rank has far more runs than memory has blocks for, in two rows of neighbours.
  Deal deal = equal_keys_in_turn(false);
  deal.input.layout.record_bytes = 5000;
  deal.input.records = kSanitized ? 7200 : 14'400;
  const std::size_t ranks = deal.of_rank.size();
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::uint64_t third = deal.input.records / (3 * ranks);
    deal.of_rank[rank] = {{0, third * 5000, rank * third},
                          {third * 5000, 2 * third * 5000, (ranks + 2 * rank) * third}};
  }
  sort_and_judge(deal);
}

}  // namespace
}  // namespace hetsort::sort::test
