// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/merge/merge_runs.h"
#include "tests/sort/merge/collecting_sink.h"
#include "tests/sort/select/spilled_runs.h"

namespace hetsort::sort::test {
namespace {

Bytes merged(const SpilledRuns& runs, const std::vector<SpilledPortion>& portions, const StopFlag& stop) {
  const io::Buffer memory(
      RunReader::memory_needed(std::max<std::size_t>(1, portions.size()), runs.space().block_bytes()));
  const auto queue = io::make_queue(io::Backend::kBuffered, 8);
  RunReader reader(runs.space(), runs.layout(), portions, memory.span(), *queue);
  CollectingSink sink(13 * runs.layout().record_bytes);
  OrderVerifier verifier(runs.layout());
  Monitor monitor;
  merge_streams(reader, runs.layout(), {sink, verifier, monitor, stop});
  EXPECT_TRUE(verifier.in_order());
  EXPECT_EQ(verifier.digest().records, sink.collected().size() / runs.layout().record_bytes);
  return sink.collected();
}

std::vector<SpilledPortion> whole_runs(const SpilledRuns& runs) {
  std::vector<SpilledPortion> portions;
  for (const SpilledRun& run : runs.runs()) portions.push_back({&run, 0, run.records});
  return portions;
}

class MergeStreams : public testing::TestWithParam<std::tuple<std::size_t, RecordLayout>> {};

TEST_P(MergeStreams, keeps_every_record_and_gives_ties_to_the_lower_stream) {
  SCOPED_TRACE(seed_note());
  const StopFlag stop{false};
  const auto& [ways, layout] = GetParam();
  for (const Distribution distribution : kDistributions) {
    SpilledRuns runs(layout, round_up(layout.record_bytes, kPageBytes), false);
    std::vector<std::size_t> sizes;
    for (std::size_t way = 0; way < ways; ++way) sizes.push_back(way % 5 == 3 ? 0 : 37 * way % 90);
    runs.add_runs(distribution, sizes, test_seed() + ways);
    EXPECT_TRUE(is_sorted_form(merged(runs, whole_runs(runs), stop), runs.all(), layout))
        << name_of(distribution) << ", " << ways << " ways";
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, MergeStreams,
                         testing::Combine(testing::ValuesIn(kSeeksRaces ? std::vector<std::size_t>{1, 2, 5, 33}
                                                                        : std::vector<std::size_t>{1, 2, 3, 4, 5, 7, 8,
                                                                                                   9, 16, 31, 33, 64}),
                                          testing::Values(RecordLayout{100, 0, 10}, RecordLayout{12, 4, 5},
                                                          RecordLayout{50, 9, 41}, RecordLayout{1500, 100, 11})));

TEST(MergeStreamsOf, no_streams_writes_nothing) {
  const StopFlag stop{false};
  const SpilledRuns runs({.record_bytes = 10, .key_offset = 0, .key_bytes = 10}, kPageBytes, false);
  EXPECT_TRUE(merged(runs, {}, stop).empty());
}

TEST(MergeStreamsOf, ranges_between_cuts_one_after_the_other_is_the_whole_output) {
  const StopFlag stop{false};
  const RecordLayout layout{.record_bytes = 24, .key_offset = 2, .key_bytes = 13};
  SpilledRuns runs(layout, kPageBytes, false);
  runs.add_runs(Distribution::kFewKeys, {700, 3, 0, 900, 411}, test_seed());
  const std::vector<std::uint64_t> ranks{0, 1, 500, 501, 1000, 2013, 2014};
  const std::vector<Cut> cuts = select_splitters(runs.runs(), runs.space(), layout, ranks);
  Bytes whole;
  for (std::size_t cut = 0; cut + 1 < cuts.size(); ++cut) {
    std::vector<SpilledPortion> portions;
    for (std::size_t run = 0; run < runs.runs().size(); ++run)
      portions.push_back({&runs.runs()[run], cuts[cut][run], cuts[cut + 1][run]});
    const Bytes part = merged(runs, portions, stop);
    EXPECT_EQ(part.size() / layout.record_bytes, ranks[cut + 1] - ranks[cut]);
    whole.insert(whole.end(), part.begin(), part.end());
  }
  EXPECT_TRUE(is_sorted_form(whole, runs.all(), layout));
}

TEST(MergeStreamsOf, streams_ends_when_the_stop_flag_is_set) {
  const StopFlag stop{true};
  SpilledRuns runs({.record_bytes = 10, .key_offset = 0, .key_bytes = 10}, kPageBytes, false);
  runs.add_runs(Distribution::kUniform, {100, 100}, test_seed());
  EXPECT_THROW(merged(runs, whole_runs(runs), stop), Stopped);
}

}  // namespace
}  // namespace hetsort::sort::test
