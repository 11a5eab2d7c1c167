// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The merge on one thread, of runs in the page cache: reading, checksums, the tree of losers and the verifier.
#include <filesystem>

#include "bench/sort/records.h"
#include "bench/sort/sinks.h"
#include "sort/merge/merge_runs.h"
#include "sort/runs/spill_writer.h"

namespace hetsort::sort::bench {
namespace {

constexpr std::size_t kRecords = 1'000'000;  // records of all runs together
constexpr std::size_t kBlockBytes = 102'400;

/// `runs` sorted runs of uniform records.
class Runs {
 public:
  explicit Runs(std::size_t runs) : space_({std::filesystem::temp_directory_path()}, kBlockBytes, false) {
    const io::Buffer records = make_records(kRecords, kUniform);
    constexpr std::size_t kBlocks = 2;
    const io::Buffer staging(kBlocks * (kBlockBytes + kPageBytes));
    const auto queue = io::make_queue(io::Backend::kBuffered, kBlocks);
    StagingRing ring(staging.span(), kBlocks, *queue);
    const StopFlag stop{false};
    for (std::size_t run = 0; run < runs; ++run) {
      const std::size_t first = kRecords * run / runs;
      const std::size_t count = kRecords * (run + 1) / runs - first;
      const std::byte* const base = records.data() + first * kLayout.record_bytes;
      std::vector<Element> elements = elements_of(base, count);
      sort_elements(elements);
      SpillWriter writer(space_, ring, kLayout);
      OrderVerifier verifier(kLayout);
      write_permuted(elements, {base, kLayout}, {writer, &verifier, stop});
      writer.finish();
      runs_.push_back(writer.take_run());
    }
  }

  const io::SpillSpace& space() const { return space_; }
  std::vector<SpilledPortion> whole() const {
    std::vector<SpilledPortion> portions;
    for (const SpilledRun& run : runs_) portions.push_back({&run, 0, run.records});
    return portions;
  }
  std::span<const SpilledRun> runs() const { return runs_; }

 private:
  io::SpillSpace space_;
  std::vector<SpilledRun> runs_;
};

void merge(benchmark::State& state) {
  const Runs runs(static_cast<std::size_t>(state.range(0)));
  const io::Buffer memory(RunReader::memory_needed(runs.runs().size(), kBlockBytes, 3));
  const StopFlag stop{false};
  Monitor monitor;
  for (auto _ : state) {
    const auto queue = io::make_queue(io::Backend::kBuffered, 512);
    RunReader reader(runs.space(), kLayout, runs.whole(), memory.span(), *queue);
    DroppingSink sink;
    OrderVerifier verifier(kLayout);
    merge_streams(reader, kLayout, {sink, verifier, monitor, stop});
    if (!verifier.in_order() || verifier.digest().records != kRecords) state.SkipWithError("not merged");
  }
  set_rates(state, kRecords);
}
BENCHMARK(merge)->ArgName("ways")->RangeMultiplier(2)->Range(2, 256)->Unit(benchmark::kMillisecond);

/// One exact cut in the middle of all runs.
void select_middle(benchmark::State& state) {
  const Runs runs(static_cast<std::size_t>(state.range(0)));
  const std::vector<std::uint64_t> ranks{kRecords / 2};
  for (auto _ : state) benchmark::DoNotOptimize(select_splitters(runs.runs(), runs.space(), kLayout, ranks));
}
BENCHMARK(select_middle)->ArgName("runs")->RangeMultiplier(4)->Range(4, 256)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace hetsort::sort::bench
