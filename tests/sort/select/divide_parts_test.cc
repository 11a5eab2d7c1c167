// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/select/divide_parts.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <random>
#include <string>

#include "io/error.h"
#include "sort/select/select_across_ranks.h"
#include "tests/machinery/in_process.h"
#include "tests/seeds.h"
#include "tests/sort/inputs.h"
#include "tests/sort/select/keys_in_memory.h"

namespace hetsort::sort::test {
namespace {

using hetsort::test::seed_note;
using hetsort::test::test_seed;

struct DividedParts {
  std::vector<Cut> parts;  // all ranks' runs, one behind the other
  std::vector<Cut> ranges;
};

void append_cuts(std::vector<Cut>& all, const std::vector<Cut>& cuts) {
  all.resize(cuts.size());
  for (std::size_t i = 0; i < cuts.size(); ++i) all[i].insert(all[i].end(), cuts[i].begin(), cuts[i].end());
}

/// Selects the cuts at `borders`, and divides the parts between them into `ranges`.
DividedParts divide(std::vector<KeysInMemory>& ranks, const std::vector<std::uint64_t>& borders,
                    const std::vector<std::uint64_t>& ranges) {
  std::vector<std::vector<Cut>> parts(ranks.size());
  std::vector<std::vector<Cut>> cuts(ranks.size());
  std::vector<std::size_t> owners(ranks.size(), 0);
  for (std::size_t part = 0; part < ranges.size(); ++part) ++owners[part % ranks.size()];
  machinery::run_ranks(static_cast<int>(ranks.size()), test_seed(), {}, [&](comm::Communicator& communicator) {
    const auto me = static_cast<std::size_t>(communicator.rank());
    std::uint64_t first = 0;
    for (std::size_t rank = 0; rank < me; ++rank) first += ranks[rank].count();
    std::vector<std::uint64_t> places(ranks[me].count());
    std::iota(places.begin(), places.end(), first);
    const RankedRuns mine{ranks[me], places, 8};
    parts[me] = select_across_ranks(mine, borders, communicator);
    cuts[me] = divide_parts(mine, parts[me], {owners, ranges}, communicator);
  });
  DividedParts all;
  for (const std::vector<Cut>& of_rank : parts) append_cuts(all.parts, of_rank);
  for (const std::vector<Cut>& of_rank : cuts) append_cuts(all.ranges, of_rank);
  return all;
}

std::uint64_t sum_of(const Cut& cut) { return std::accumulate(cut.begin(), cut.end(), std::uint64_t{0}); }

/// Ranks with runs of these sizes. draw() returns their keys.
template <typename Draw>
std::vector<KeysInMemory> make_ranks(const std::vector<std::vector<std::size_t>>& sizes, const Draw& draw) {
  std::vector<KeysInMemory> ranks;
  for (const std::vector<std::size_t>& of_rank : sizes) {
    std::vector<std::vector<std::uint64_t>> runs;
    for (const std::size_t size : of_rank) {
      runs.emplace_back(size);
      for (std::uint64_t& key : runs.back()) key = draw();
    }
    ranks.emplace_back(std::move(runs));
  }
  return ranks;
}

std::vector<std::uint64_t> borders_of(const std::vector<KeysInMemory>& ranks, std::uint64_t parts) {
  std::uint64_t records = 0;
  for (const KeysInMemory& rank : ranks)
    for (std::size_t run = 0; run < rank.count(); ++run) records += rank.records(run);
  std::vector<std::uint64_t> borders;
  for (std::uint64_t part = 0; part <= parts; ++part) borders.push_back(records * part / parts);
  return borders;
}

/// Expects exact parts and ranges of which each is a true cut, and returns the size of each range.
std::vector<std::uint64_t> sizes_of_ranges(std::vector<KeysInMemory>& ranks, std::uint64_t parts,
                                           std::uint64_t ranges) {
  const std::vector<std::uint64_t> borders = borders_of(ranks, parts);
  const DividedParts cuts = divide(ranks, borders, std::vector<std::uint64_t>(parts, ranges));
  EXPECT_TRUE(cuts.parts == cuts_of_keys(ranks, borders));
  EXPECT_EQ(cuts.ranges.size(), parts * ranges + 1);
  std::vector<std::uint64_t> targets;
  for (const Cut& cut : cuts.ranges) targets.push_back(sum_of(cut));
  for (std::uint64_t part = 0; part <= parts; ++part) EXPECT_EQ(targets[part * ranges], borders[part]);
  EXPECT_TRUE(std::ranges::is_sorted(targets));
  // A cut with so many records before it is exact wherever it is.
  EXPECT_TRUE(cuts.ranges == cuts_of_keys(ranks, targets));
  std::vector<std::uint64_t> sizes;
  for (std::size_t i = 1; i < targets.size(); ++i) sizes.push_back(targets[i] - targets[i - 1]);
  return sizes;
}

TEST(DivideParts, any_keys_gives_true_cuts_and_ranges_of_about_equal_sizes) {
  SCOPED_TRACE(seed_note());
  std::mt19937_64 random(test_seed());
  const std::vector<std::vector<std::size_t>> sizes{{3'000, 1'000}, {}, {2'500}, {4'000, 1, 0}, {500}};
  for (const std::uint64_t different : {std::uint64_t{1}, std::uint64_t{3}, UINT64_MAX}) {
    auto ranks = make_ranks(sizes, [&] { return random() % different; });
    for (const std::uint64_t size : sizes_of_ranges(ranks, 5, 4)) {
      EXPECT_GE(size, 11'001U / 20 * 95 / 100) << different << " keys";
      EXPECT_LE(size, 11'001U / 20 * 105 / 100) << different << " keys";
    }
  }
}

TEST(DivideParts, skewed_keys_of_many_ranks_gives_ranges_of_about_equal_sizes) {
  SCOPED_TRACE(seed_note());
  std::mt19937_64 random(test_seed());
  auto ranks = make_ranks(std::vector<std::vector<std::size_t>>(20, {2'000}),
                          [&] { return std::uint64_t{1} << random() % 64 | random() % 3; });
  for (const std::uint64_t size : sizes_of_ranges(ranks, 20, 8)) EXPECT_LE(size, 40'000U / 160 * 125 / 100);
}

TEST(DivideParts, more_ranges_than_records_leaves_some_empty) {
  auto ranks = make_ranks({{2}, {}, {1}}, [] { return 7; });
  EXPECT_EQ(sizes_of_ranges(ranks, 3, 8).size(), 24U);
  auto no_records = make_ranks({{}, {0}}, [] { return 7; });
  EXPECT_EQ(sizes_of_ranges(no_records, 2, 3).size(), 6U);
}

TEST(DivideParts, parts_of_one_range_need_no_message) {
  auto ranks = make_ranks({{10}, {20}}, [] { return 1; });
  machinery::run_ranks(2, test_seed(), {}, [&](comm::Communicator& communicator) {
    const std::vector<std::uint64_t> places{static_cast<std::uint64_t>(communicator.rank())};
    KeysInMemory& runs = ranks[static_cast<std::size_t>(communicator.rank())];
    const std::vector<Cut> borders{{0}, {runs.records(0)}};
    const std::uint64_t before = communicator.collectives();
    EXPECT_EQ(divide_parts({runs, places, 8}, borders, {{1, 0}, {1}}, communicator), borders);
    EXPECT_EQ(communicator.collectives(), before);
  });
}

TEST(DivideParts, ranks_that_fail_while_others_wait_for_their_marks_end_all) {
  class UnreadableKeys : public KeysInMemory {
   public:
    using KeysInMemory::KeysInMemory;
    std::vector<RunMark> sample(std::size_t, std::uint64_t, std::uint64_t, std::size_t) override {
      throw io::Error("read", "run", "broken");
    }
  };
  const std::vector<machinery::RankEnd> ends = machinery::try_ranks(3, test_seed(), {}, [](comm::Communicator& ranks) {
    const std::vector<std::uint64_t> places{static_cast<std::uint64_t>(ranks.rank())};
    KeysInMemory good({{1, 2, 3, 4}});
    UnreadableKeys bad({{1, 2, 3, 4}});
    KeysInMemory& runs = ranks.rank() == 1 ? bad : good;
    divide_parts({runs, places, 8}, std::vector<Cut>{{0}, {1}, {2}, {4}}, {{1, 1, 1}, {2, 2, 2}}, ranks);
  });
  for (const machinery::RankEnd& end : ends) EXPECT_EQ(end.conclusion, "rank 1 (node1): read run: broken");
}

TEST(DivideParts, corrupt_message_between_ranks_is_found) {
  SCOPED_TRACE(seed_note());
  for (std::uint64_t message = 1; message <= 12; ++message) {
    machinery::InProcessOptions options;
    std::atomic<int> flipped{0};
    options.corrupt_message = message;
    options.flipped_bits = &flipped;
    const std::vector<machinery::RankEnd> ends =
        machinery::try_ranks(3, test_seed() + message, options, [](comm::Communicator& ranks) {
          const std::vector<std::uint64_t> places{static_cast<std::uint64_t>(ranks.rank())};
          KeysInMemory runs({{1, 2, 3, 4}});
          divide_parts({runs, places, 8}, std::vector<Cut>{{0}, {1}, {2}, {4}}, {{1, 1, 1}, {2, 2, 2}}, ranks);
        });
    EXPECT_EQ(flipped, 1);
    EXPECT_NE(ends.front().conclusion.find("corrupt message: its checksum is wrong"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace hetsort::sort::test
