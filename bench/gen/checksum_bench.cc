// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The sum of CRC-32 over 100-byte records in cache, for each kernel. Kernel 0 runs on any processor.
#include "bench/gen/records.h"
#include "gen/checksum/record_checksum.h"

namespace hetsort::gen::bench {
namespace {

void record_checksum_kernel(benchmark::State& state) {
  const auto kernels = detail::checksum_kernels();
  const auto chosen = static_cast<std::size_t>(state.range(0));
  if (chosen >= kernels.size()) return state.SkipWithError("this processor has no such kernel");
  const std::vector<std::byte> records = bench::piece("uniform");
  for (auto _ : state) benchmark::DoNotOptimize(kernels[chosen](records.data(), bench::kRecords));
  bench::count_records(state);
}
BENCHMARK(record_checksum_kernel)->ArgName("kernel")->Arg(0)->Arg(1)->Arg(2);

}  // namespace
}  // namespace hetsort::gen::bench
