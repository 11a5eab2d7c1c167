// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The validator's scan over records in cache: order, duplicates and checksum.
#include "bench/gen/records.h"
#include "gen/scanner.h"

namespace hetsort::gen::bench {
namespace {

void scan(benchmark::State& state, const std::string& keys, const order::RecordLayout& layout) {
  const std::vector<std::byte> records = bench::piece(keys);
  for (auto _ : state) {
    Scanner scanner(layout);
    scanner.add(records);
    benchmark::DoNotOptimize(scanner.summary().checksum);
  }
  bench::count_records(state);
}
BENCHMARK_CAPTURE(scan, sorted, "sorted", {});
BENCHMARK_CAPTURE(scan, uniform, "uniform", {});
BENCHMARK_CAPTURE(scan, equal, "equal", {});
BENCHMARK_CAPTURE(scan, sorted_key_of_8, "sorted", {.key_bytes = 8});

}  // namespace
}  // namespace hetsort::gen::bench
