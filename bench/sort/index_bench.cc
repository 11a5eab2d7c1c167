// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The steps of the local sort on one thread: distribute keys to buckets, sort buckets, write records permuted.
#include "bench/sort/records.h"
#include "bench/sort/sinks.h"

namespace hetsort::sort::bench {
namespace {

/// Key extraction and classification of records in memory.
void add_to_index(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  const io::Buffer records = make_records(count, state.range(1));
  const Indexed indexed(records, count);
  for (auto _ : state) {
    state.PauseTiming();
    BucketIndex index = indexed.make();
    state.ResumeTiming();
    indexed.add_all(index);
    benchmark::ClobberMemory();
  }
  state.SetLabel(kKeyNames[static_cast<std::size_t>(state.range(1))]);
  set_rates(state, count);
}
BENCHMARK(add_to_index)->Apply(all_sizes_and_keys);

/// Sorts all buckets, each in scratch memory.
void sort_buckets(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  const io::Buffer records = make_records(count, state.range(1));
  const Indexed indexed(records, count);
  BucketIndex index = indexed.make();
  indexed.add_all(index);
  index.finalize(records.data(), 1);
  std::vector<Element> scratch(BucketIndex::kScratchElements);
  for (auto _ : state)
    for (const IndexTask& task : index.tasks())
      benchmark::DoNotOptimize(index.sorted(task, records.data(), scratch).data());
  state.SetLabel(kKeyNames[static_cast<std::size_t>(state.range(1))]);
  set_rates(state, count);
}
BENCHMARK(sort_buckets)->Apply(all_sizes_and_keys);

/// The whole local sort: index, sort, write permuted into a sink in cache, verify.
void sort_in_memory(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  const io::Buffer records = make_records(count, state.range(1));
  const Indexed indexed(records, count);
  std::vector<Element> scratch(BucketIndex::kScratchElements);
  const StopFlag stop{false};
  for (auto _ : state) {
    BucketIndex index = indexed.make();
    indexed.add_all(index);
    index.finalize(records.data(), 1);
    DroppingSink sink;
    OrderVerifier verifier(kLayout);
    for (const IndexTask& task : index.tasks())
      write_permuted(index.sorted(task, records.data(), scratch), {records.data(), kLayout}, {sink, &verifier, stop});
    if (!verifier.in_order() || verifier.digest().records != count) state.SkipWithError("not sorted");
  }
  state.SetLabel(kKeyNames[static_cast<std::size_t>(state.range(1))]);
  set_rates(state, count);
}
BENCHMARK(sort_in_memory)->Apply(all_sizes_and_keys);

/// Sorts elements only, as in a bucket of the given size.
void sort_bare_elements(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  const io::Buffer records = make_records(count, state.range(1));
  const std::vector<Element> elements = elements_of(records.data(), count);
  std::vector<Element> work(count);
  for (auto _ : state) {
    work = elements;  // copying takes a sixteenth of the time or less
    sort_elements(work);
    benchmark::ClobberMemory();
  }
  state.SetLabel(kKeyNames[static_cast<std::size_t>(state.range(1))]);
  set_rates(state, count);
}
BENCHMARK(sort_bare_elements)->Apply(all_sizes_and_keys);

/// Writes and verifies records that lie at shuffled places.
void permute_records(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  const io::Buffer records = make_records(count, kUniform);
  std::vector<Element> elements = elements_of(records.data(), count);
  sort_elements(elements);
  const StopFlag stop{false};
  for (auto _ : state) {
    DroppingSink sink;
    OrderVerifier verifier(kLayout);
    write_permuted(elements, {records.data(), kLayout}, {sink, &verifier, stop});
    benchmark::DoNotOptimize(verifier.digest());
  }
  set_rates(state, count);
}
BENCHMARK(permute_records)->RangeMultiplier(10)->Range(10'000, 10'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hetsort::sort::bench
