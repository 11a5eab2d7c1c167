// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Making records in a buffer that stays in cache: each kernel of binary records, then every form and kind of keys.
#include "bench/gen/records.h"
#include "gen/binary_records.h"

namespace hetsort::gen::bench {
namespace {

void fill_binary_kernel(benchmark::State& state) {
  const auto kernels = detail::window_kernels();
  const auto chosen = static_cast<std::size_t>(state.range(0));
  if (chosen >= kernels.size()) return state.SkipWithError("this processor has no such kernel");
  std::vector<std::byte> records(bench::kRecords * kRecordBytes);
  Uint128 first = 0;
  for (auto _ : state) {
    detail::fill_binary_with(kernels[chosen], first, records);
    benchmark::DoNotOptimize(records.data());
    first += bench::kRecords;
  }
  bench::count_records(state);
}
BENCHMARK(fill_binary_kernel)->ArgName("kernel")->Arg(0)->Arg(1);

void fill(benchmark::State& state, Form form, KeyDistribution keys) {
  std::vector<std::byte> records(bench::kRecords * kRecordBytes);
  const Generator generator(form, keys, {0, bench::kRecords});
  for (auto _ : state) {
    generator.fill(0, records);
    benchmark::DoNotOptimize(records.data());
  }
  bench::count_records(state);
}
BENCHMARK_CAPTURE(fill, binary_uniform, Form::kBinary, {});
BENCHMARK_CAPTURE(fill, binary_skewed, Form::kBinary, {.kind = KeyKind::kSkewed});
BENCHMARK_CAPTURE(fill, binary_sorted, Form::kBinary, {.kind = KeyKind::kSorted});
BENCHMARK_CAPTURE(fill, binary_zipf, Form::kBinary, {.kind = KeyKind::kZipf});
BENCHMARK_CAPTURE(fill, ascii_uniform, Form::kAscii, {});
BENCHMARK_CAPTURE(fill, ascii_sorted, Form::kAscii, {.kind = KeyKind::kSorted});

void generate_all_threads(benchmark::State& state) {
  constexpr std::uint64_t kPieces = 400;
  const RecordRange range{0, bench::kRecords * kPieces};
  const Generator generator(Form::kBinary, {}, range);
  for (auto _ : state) {
    benchmark::DoNotOptimize(generate(generator, range, [](auto) {}, {}));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(range.count_records * kRecordBytes));
}
BENCHMARK(generate_all_threads)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hetsort::gen::bench
