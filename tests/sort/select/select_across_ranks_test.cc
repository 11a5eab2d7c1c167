// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/select/select_across_ranks.h"

#include <mutex>

#include "sort/select/quantile_summary.h"
#include "tests/machinery/in_process.h"
#include "tests/sort/select/keys_in_memory.h"
#include "tests/sort/select/spilled_runs.h"

namespace hetsort::sort::test {
namespace {

/// The cuts of all ranks' runs, one behind the other, by brute force.
std::vector<Cut> cuts_by_merging(std::span<const std::unique_ptr<SpilledRuns>> ranks,
                                 const std::vector<std::uint64_t>& targets) {
  Bytes all;
  std::vector<std::size_t> run_of;
  std::size_t runs = 0;
  for (const auto& rank : ranks) {
    for (std::size_t run = 0; run < rank->runs().size(); ++run, ++runs) {
      all.insert(all.end(), rank->sorted(run).begin(), rank->sorted(run).end());
      run_of.resize(run_of.size() + rank->sizes()[run], runs);
    }
  }
  std::vector<Cut> before(1, Cut(runs, 0));
  for (const std::size_t number : reference_order(all, ranks.front()->layout())) {
    before.push_back(before.back());
    ++before.back()[run_of[number]];
  }
  std::vector<Cut> cuts;
  for (const std::uint64_t target : targets) cuts.push_back(before[target]);
  return cuts;
}

struct Selected {
  std::vector<Cut> cuts;  // all ranks' runs, one behind the other
  std::uint64_t most_collectives = 0;
};

Selected select(std::span<const std::unique_ptr<SpilledRuns>> ranks, const std::vector<std::uint64_t>& targets) {
  Selected selected;
  std::vector<std::vector<Cut>> of_rank(ranks.size());
  std::mutex mutex;
  machinery::run_ranks(static_cast<int>(ranks.size()), test_seed(), {}, [&](comm::Communicator& communicator) {
    const auto me = static_cast<std::size_t>(communicator.rank());
    std::uint64_t first = 1;
    for (std::size_t rank = 0; rank < me; ++rank) first += ranks[rank]->runs().size();
    std::vector<std::uint64_t> places(ranks[me]->runs().size());
    std::iota(places.begin(), places.end(), first);
    const std::uint64_t before = communicator.collectives();
    SpilledRunsView view(ranks[me]->runs(), ranks[me]->space(), ranks[me]->layout());
    of_rank[me] = select_across_ranks({view, places, ranks[me]->layout().key_bytes}, targets, communicator);
    const std::lock_guard lock(mutex);
    selected.most_collectives = std::max(selected.most_collectives, communicator.collectives() - before);
  });
  selected.cuts.resize(targets.size());
  for (const std::vector<Cut>& cuts : of_rank)
    for (std::size_t i = 0; i < cuts.size(); ++i)
      selected.cuts[i].insert(selected.cuts[i].end(), cuts[i].begin(), cuts[i].end());
  return selected;
}

class SelectAcrossRanks : public testing::TestWithParam<std::tuple<Distribution, RecordLayout>> {};

TEST_P(SelectAcrossRanks, meets_every_rank_exactly) {
  SCOPED_TRACE(seed_note());
  const auto& [distribution, layout] = GetParam();
  std::vector<std::unique_ptr<SpilledRuns>> ranks;
  std::uint64_t seed = test_seed();
  std::uint64_t records = 0;
  for (const std::vector<std::size_t>& sizes :
       std::vector<std::vector<std::size_t>>{{500, 1, 0, 130}, {}, {131, 300}, {7}, {0}}) {
    ranks.push_back(std::make_unique<SpilledRuns>(layout, kPageBytes, false, 700));
    ranks.back()->add_runs(distribution, sizes, seed += 100);
    records += ranks.back()->records();
  }
  std::vector<std::uint64_t> targets;
  for (std::uint64_t target = 0; target < records; target += kSanitized ? 17 : 3) targets.push_back(target);
  targets.push_back(records);
  EXPECT_TRUE(select(ranks, targets).cuts == cuts_by_merging(ranks, targets));
}

/// Each distribution with one of the layouts. SelectSplitters has all pairs: both selections read keys with one probe.
std::vector<std::tuple<Distribution, RecordLayout>> distributions_with_layouts() {
  const std::array layouts{RecordLayout{100, 0, 10}, RecordLayout{60, 17, 40}, RecordLayout{1000, 990, 1},
                           RecordLayout{31, 20, 11}};
  std::vector<std::tuple<Distribution, RecordLayout>> all;
  for (const Distribution distribution : kDistributions)
    all.emplace_back(distribution, layouts[all.size() % layouts.size()]);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Keys, SelectAcrossRanks, testing::ValuesIn(distributions_with_layouts()));

TEST(SelectAcrossRanksOf, many_records_needs_few_reductions_and_reads_few_pages) {
  const RecordLayout layout{.record_bytes = 100, .key_offset = 0, .key_bytes = 10};
  std::vector<Distribution> distributions{Distribution::kZipf};
  if (!kSanitized) distributions.insert(distributions.end(), {Distribution::kUniform, Distribution::kAllEqual});
  for (const Distribution distribution : distributions) {
    std::vector<std::unique_ptr<SpilledRuns>> ranks;
    for (std::uint64_t rank = 0; rank < 3; ++rank) {
      ranks.push_back(std::make_unique<SpilledRuns>(layout, 256 * kPageBytes, false));
      ranks.back()->add_runs(distribution, {60'000, 60'000}, test_seed() + 7 * rank);
    }
    const std::vector<std::uint64_t> targets{0, 100'001, 200'002, 360'000};
    const Selected selected = select(ranks, targets);
    EXPECT_TRUE(selected.cuts == cuts_by_merging(ranks, targets)) << name_of(distribution);
    EXPECT_LE(selected.most_collectives, 10U) << name_of(distribution);  // two a round
  }
}

TEST(SelectAcrossRanksOf, spilled_runs_with_keys_in_memory_reads_a_few_pages_for_each_run_and_splitter) {
  const RecordLayout layout{.record_bytes = 100, .key_offset = 0, .key_bytes = 10};
  std::vector<std::unique_ptr<SpilledRuns>> ranks;
  for (std::uint64_t rank = 0; rank < 3; ++rank) {
    ranks.push_back(std::make_unique<SpilledRuns>(layout, 256 * kPageBytes, false, 4 * kPageBytes));
    ranks.back()->add_runs(Distribution::kUniform, {40'000, 40'000}, test_seed() + 7 * rank);
  }
  const std::vector<std::uint64_t> targets{60'001, 120'002, 180'003};
  const std::uint64_t before = io::traffic().bytes_read;
  const Selected selected = select(ranks, targets);
  const std::uint64_t pages = (io::traffic().bytes_read - before) / kPageBytes;
  EXPECT_TRUE(selected.cuts == cuts_by_merging(ranks, targets));
  EXPECT_LE(pages, 20U * targets.size() * 6);
}

/// The cuts of ranks whose runs are in memory, and the number of collectives.
Selected select_keys(std::vector<KeysInMemory>& ranks, const std::vector<std::uint64_t>& targets) {
  Selected selected;
  std::vector<std::vector<Cut>> of_rank(ranks.size());
  machinery::run_ranks(static_cast<int>(ranks.size()), test_seed(), {}, [&](comm::Communicator& communicator) {
    const auto me = static_cast<std::size_t>(communicator.rank());
    const std::vector<std::uint64_t> places{me};
    const std::uint64_t before = communicator.collectives();
    of_rank[me] = select_across_ranks({ranks[me], places, 8}, targets, communicator);
    if (me == 0) selected.most_collectives = communicator.collectives() - before;
  });
  selected.cuts.resize(targets.size());
  for (const std::vector<Cut>& cuts : of_rank)
    for (std::size_t i = 0; i < cuts.size(); ++i)
      selected.cuts[i].insert(selected.cuts[i].end(), cuts[i].begin(), cuts[i].end());
  return selected;
}

TEST(SelectAcrossRanksOf, many_ranks_in_memory_needs_few_rounds) {
  SCOPED_TRACE(seed_note());
  std::mt19937_64 random(test_seed());
  std::vector<KeysInMemory> ranks;
  for (std::size_t rank = 0; rank < 40; ++rank) {
    std::vector<std::uint64_t> keys(5'000);
    for (std::uint64_t& key : keys) key = random();
    ranks.emplace_back(std::vector<std::vector<std::uint64_t>>{std::move(keys)});
  }
  std::vector<std::uint64_t> targets;
  for (std::uint64_t rank = 0; rank <= 40; ++rank) targets.push_back(5'000 * rank);
  const Selected selected = select_keys(ranks, targets);
  EXPECT_TRUE(selected.cuts == cuts_of_keys(ranks, targets));
  EXPECT_LE(selected.most_collectives, 8U);
}

/// Runs whose marks lie all near one end of the records in question, so that estimates between them are wrong.
class BadlySampledKeys : public KeysInMemory {
 public:
  using KeysInMemory::KeysInMemory;
  std::vector<RunMark> sample(std::size_t run, std::uint64_t first, std::uint64_t last, std::size_t count) override {
    const std::uint64_t some = std::min<std::uint64_t>(last - first, 1 + (last - first) / 50);
    std::vector<RunMark> marks = KeysInMemory::sample(run, first, first + some, count);
    if (first + some < last) marks.push_back({key(run, last - 1), last - 1});
    return marks;
  }
};

TEST(SelectAcrossRanksOf, ranks_whose_estimates_are_wrong_still_gives_exact_cuts) {
  SCOPED_TRACE(seed_note());
  std::mt19937_64 random(test_seed());
  std::vector<KeysInMemory> truth;
  for (std::size_t rank = 0; rank < 12; ++rank) {
    // Half of the ranks have all their keys above those of the others.
    std::vector<std::uint64_t> keys(700);
    for (std::uint64_t& key : keys) key = random() % 1'000 + rank % 2 * 900;
    truth.emplace_back(std::vector<std::vector<std::uint64_t>>{std::move(keys)});
  }
  std::vector<std::uint64_t> targets;
  for (std::uint64_t target = 0; target <= 8'400; target += 600) targets.push_back(target);
  std::vector<std::vector<Cut>> of_rank(truth.size());
  machinery::run_ranks(12, test_seed(), {}, [&](comm::Communicator& communicator) {
    const auto me = static_cast<std::size_t>(communicator.rank());
    std::vector<std::uint64_t> keys;
    for (std::uint64_t at = 0; at < 700; ++at) keys.push_back(truth[me].number(0, at));
    BadlySampledKeys runs({keys});
    const std::vector<std::uint64_t> places{me};
    of_rank[me] = select_across_ranks({runs, places, 8}, targets, communicator);
  });
  const std::vector<Cut> expected = cuts_of_keys(truth, targets);
  for (std::size_t i = 0; i < targets.size(); ++i)
    for (std::size_t rank = 0; rank < truth.size(); ++rank) EXPECT_EQ(of_rank[rank][i].front(), expected[i][rank]);
}

SummaryMark exact(const std::string& key, std::uint64_t run, std::uint64_t position, std::uint64_t before) {
  return {{key, run, position}, before, before, true};
}

TEST(QuantileSummaryOf, whole_sets_merges_without_loss) {
  QuantileSummary a{3, {exact("a", 1, 0, 0), exact("c", 1, 1, 1), exact("c", 1, 2, 2)}};
  QuantileSummary b{2, {exact("b", 2, 0, 0), exact("c", 2, 1, 1)}};
  const QuantileSummary merged = merge(a, b);
  ASSERT_EQ(merged.records, 5U);
  ASSERT_EQ(merged.marks.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(merged.marks[i].fewest_before, i);
    EXPECT_EQ(merged.marks[i].most_before, i);
  }
}

TEST(QuantileSummaryOf, random_parts_bounds_the_truth_however_thinned) {
  SCOPED_TRACE(seed_note());
  std::mt19937_64 random(test_seed());
  for (int round = 0; round < 50; ++round) {
    std::vector<Mark> all;
    QuantileSummary whole;
    for (std::uint64_t run = 1; run <= 9; ++run) {
      std::vector<Mark> marks;
      const std::size_t records = random() % 300;
      for (std::size_t i = 0; i < records; ++i)
        marks.push_back({std::string(1, static_cast<char>(random() % 20)), run, 0});
      std::sort(marks.begin(), marks.end());
      for (std::size_t i = 0; i < records; ++i) marks[i].position = i;
      QuantileSummary part{records, {}};
      for (std::size_t i = random() % 9; i < records; i += 1 + random() % 20)
        part.marks.push_back({marks[i], i, i, true});
      all.insert(all.end(), marks.begin(), marks.end());
      whole = merge(whole, part);
      whole.thin(10 + random() % 100);
    }
    std::sort(all.begin(), all.end());
    ASSERT_EQ(whole.records, all.size());
    for (const SummaryMark& mark : whole.marks) {
      const auto before = static_cast<std::uint64_t>(std::lower_bound(all.begin(), all.end(), mark.mark) - all.begin());
      EXPECT_LE(mark.fewest_before, before);
      EXPECT_GE(mark.most_before, before);
    }
  }
}

TEST(QuantileSummaryOf, any_marks_survives_the_wire_and_garbage_does_not_pass) {
  OpenRecords open{7, true, {3, {exact("abc", 1, 2, 0), {{"abd", 0, 0}, 1, 2, false}}}};
  const Bytes wire = encode({open, OpenRecords{}}, 3);
  const std::vector<OpenRecords> back = decode(wire, 3);
  ASSERT_EQ(back.size(), 2U);
  EXPECT_EQ(back[0].records_before, 7U);
  EXPECT_EQ(back[0].summary.marks[1].mark.key, "abd");
  EXPECT_FALSE(back[0].summary.marks[1].is_record);
  for (std::size_t length = 0; length < wire.size(); ++length)
    EXPECT_THROW(static_cast<void>(decode({wire.begin(), wire.begin() + static_cast<std::ptrdiff_t>(length)}, 3)),
                 std::runtime_error);
}

TEST(QuantileSummaryOf, marks_that_contradict_each_other_does_not_pass) {
  const SummaryMark first = exact("abc", 1, 2, 0);
  const SummaryMark second = exact("abd", 1, 3, 1);
  const auto passes = [](const QuantileSummary& summary) {
    try {
      static_cast<void>(decode(encode({OpenRecords{0, true, summary}}, 3), 3));
      return true;
    } catch (const std::runtime_error&) {
      return false;
    }
  };
  EXPECT_TRUE(passes({2, {first, second}}));
  EXPECT_FALSE(passes({2, {second, first}}));
  EXPECT_FALSE(passes({0, {first, second}}));
  EXPECT_FALSE(passes({UINT64_MAX, {first, second}}));
  SummaryMark crossed = second;
  crossed.fewest_before = 2;
  crossed.most_before = 1;
  EXPECT_FALSE(passes({2, {first, crossed}}));
}

TEST(QuantileSummaryOf, any_bounds_is_thinned) {
  QuantileSummary summary{1, {}};
  for (std::uint64_t at = 0; at < 100; ++at) summary.marks.push_back({{"k", 1, at}, UINT64_MAX - at, UINT64_MAX, true});
  summary.thin(10);
  EXPECT_LE(summary.marks.size(), 100U);
}

/// Runs whose marks lie: record `before` is said to be the first with its key on one rank only.
class LyingRuns : public SortedRuns {
 public:
  explicit LyingRuns(std::uint64_t lie) : lie_(lie) {}
  std::size_t count() const override { return 1; }
  std::uint64_t records(std::size_t) const override { return 100; }
  std::vector<RunMark> sample(std::size_t, std::uint64_t first, std::uint64_t last, std::size_t) override {
    if (first >= last) return {};
    return {{std::string(1, static_cast<char>(lie_ % 7)), first + lie_ % 50, lie_ % 2 == 0}};
  }
  std::string key(std::size_t, std::uint64_t position) override { return std::string(1, static_cast<char>(position)); }
  RunLine line(std::size_t run, std::uint64_t position) override {
    return {position, position + 1, key(run, position)};
  }
  std::uint64_t line_start(std::size_t, std::uint64_t position) override { return position; }

 private:
  std::uint64_t lie_;
};

TEST(SelectAcrossRanksOf, runs_that_contradict_their_marks_gives_cuts_inside_the_runs_or_an_error) {
  // Some lies take the most rounds that are allowed, so messages arrive at once.
  machinery::InProcessOptions options;
  options.rendezvous = 0;
  options.longest_delay_microseconds = 0;
  for (std::uint64_t lie = 0; lie < 60; ++lie) {
    machinery::try_ranks(2, test_seed() + lie, options, [&](comm::Communicator& ranks) {
      LyingRuns runs(ranks.rank() == 0 ? 0 : lie);
      const std::vector<std::uint64_t> places{static_cast<std::uint64_t>(ranks.rank())};
      const std::vector<std::uint64_t> targets{0, 30, 70, 110, 200};
      const std::vector<Cut> cuts = select_across_ranks({runs, places, 1}, targets, ranks);
      for (std::size_t i = 0; i < cuts.size(); ++i) {
        EXPECT_LE(cuts[i].at(0), 100U);
        EXPECT_LE(i == 0 ? 0 : cuts[i - 1].at(0), cuts[i].at(0));
      }
    });
  }
}

}  // namespace
}  // namespace hetsort::sort::test
