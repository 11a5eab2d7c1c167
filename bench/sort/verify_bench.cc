// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The verification of records in the first-level cache.
#include "bench/sort/records.h"

namespace hetsort::sort::bench {
namespace {

constexpr std::size_t kBatchRecords = 245;  // what write_permuted() verifies at once

void take_digest(benchmark::State& state) {
  const io::Buffer records = make_records(kBatchRecords, kUniform);
  for (auto _ : state) {
    MultisetDigest digest;
    digest.add(records.data(), kBatchRecords, kLayout.record_bytes);
    benchmark::DoNotOptimize(digest);
  }
  set_rates(state, kBatchRecords);
}
BENCHMARK(take_digest);

/// Argument: key bytes. Longer keys than the prefix are compared whole if their prefixes are equal.
void inspect_order(benchmark::State& state) {
  RecordLayout layout = kLayout;
  layout.key_bytes = static_cast<std::size_t>(state.range(0));
  const io::Buffer records = make_records(kBatchRecords, kFewKeys);
  std::vector<Element> elements = elements_of(records.data(), kBatchRecords);
  sort_elements(elements);
  std::vector<std::byte> sorted(kBatchRecords * layout.record_bytes + kReadableSlackBytes);
  for (std::size_t i = 0; i < kBatchRecords; ++i)
    std::memcpy(sorted.data() + i * layout.record_bytes, records.data() + place_of(elements[i]), layout.record_bytes);
  OrderVerifier verifier(layout);
  for (auto _ : state) verifier.inspect(sorted.data(), kBatchRecords);
  benchmark::DoNotOptimize(verifier.in_order());
  set_rates(state, kBatchRecords);
}
BENCHMARK(inspect_order)->Arg(4)->Arg(10)->Arg(40);

}  // namespace
}  // namespace hetsort::sort::bench
