// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranks that take their inputs in segments, dealt over all of them like cards: each forms several runs, which lie
// between those of others in the whole input. In one process and under mpirun. HETSORT_TEST_SEED draws another sample,
// HETSORT_TEST_CASES a larger one.
#include <optional>

#include "tests/sort/job_case.h"

namespace hetsort::sort::test {
namespace {

/// Who takes which records of the whole input, in the order in which they are taken.
struct Deal : JobCase {
  std::uint64_t block_bytes = 0;
  std::vector<std::vector<InputSegment>> of_rank;
};

std::string describe(const Deal& deal) {
  std::ostringstream text;
  text << describe_job(deal) << ", blocks of " << deal.block_bytes << ", segments";
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
  draw_job(dice, deal);
  deal.mode = static_cast<comm::ExchangeMode>(seed % 3);
  deal.block_bytes = dice.one_of<std::uint64_t>({0, 3 * deal.input.layout.record_bytes, 5000});
  deal.of_rank = deal_segments(deal.input, static_cast<std::size_t>(deal.ranks),
                               dice.one_of<std::size_t>({1, 3, 8, 20, 40}), dice);
  return deal;
}

void write_inputs(const Deal& deal, JobFolder& folder) {
  const std::size_t record_bytes = deal.input.layout.record_bytes;
  for (std::size_t rank = 0; rank < deal.of_rank.size(); ++rank) {
    Bytes own;
    for (const InputSegment& segment : deal.of_rank[rank]) {
      const auto part = folder.records().subspan(segment.first_record * record_bytes, segment.bytes);
      own.insert(own.end(), part.begin(), part.end());
    }
    folder.write_input("in." + std::to_string(rank), own);
  }
}

SortOptions options_of(const Deal& deal, const std::string& folder, int rank) {
  SortOptions options = job_options(deal, folder);
  options.input.paths = {folder + (deal.ranks == 1 ? "/in.0" : "/in.{rank}")};  // one rank alone has no {rank}
  options.hooks.take_segments = [segments = deal.of_rank[static_cast<std::size_t>(rank)]](std::uint64_t,
                                                                                          std::uint64_t) {
    return std::make_unique<ListedSegments>(segments);
  };
  options.hooks.block_bytes = deal.block_bytes;
  return options;
}

std::size_t filled_segments(const std::vector<InputSegment>& segments) {
  return static_cast<std::size_t>(
      std::ranges::count_if(segments, [](const InputSegment& segment) { return segment.bytes > 0; }));
}

void sort_and_judge(const Deal& deal) {
  SCOPED_TRACE(describe(deal));
  std::optional<JobFolder> folder;
  if (has_first_rank()) write_inputs(deal, folder.emplace(deal));
  const auto body = [&](comm::Communicator& ranks) {
    SCOPED_TRACE(describe(deal) + ", rank " + std::to_string(ranks.rank()));
    const std::string path = path_for_all(folder ? folder->path() : "", ranks);
    Monitor monitor;
    RankResult result;
    sort_records(options_of(deal, path, ranks.rank()), ranks, monitor, result);
    const std::size_t segments = filled_segments(deal.of_rank[static_cast<std::size_t>(ranks.rank())]);
    if (result.in_memory) {
      EXPECT_EQ(result.runs, segments);
    }
    EXPECT_TRUE(result.in_memory || !deal.ample_memory);
  };
  for (const machinery::RankEnd& end : run_once(deal.ranks, deal.input.seed, job_messages(deal), body))
    EXPECT_EQ(end.conclusion, "");
  if (folder) folder->judge();
}

class SegmentedInput : public testing::TestWithParam<std::uint64_t> {};

TEST_P(SegmentedInput, dealt_over_ranks_equals_an_independent_stable_sort) {
  SCOPED_TRACE(seed_note());
  sort_and_judge(draw_deal(case_seed(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(Sample, SegmentedInput, cases(80, 20));

/// Runs of three ranks in turn. All keys are equal, so the places in the whole input alone decide the order.
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
