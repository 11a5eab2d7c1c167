// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums over bytes and records, in the second-level cache. "per_record" is the figure the design gives bars for.
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "io/checksum/checksum.h"
#include "io/checksum/fingerprint_kernels.h"

namespace hetsort::io::bench {
namespace {

constexpr std::size_t kCachedBytes = 256 << 10;
constexpr std::uint64_t kSeed = 1;

std::vector<std::byte> random_bytes(std::size_t bytes) {
  std::mt19937_64 random(kSeed);
  std::vector<std::byte> made(bytes);
  for (std::byte& each : made) each = static_cast<std::byte>(random());
  return made;
}

void set_rates(benchmark::State& state, std::size_t bytes, std::size_t records) {
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * bytes));
  state.counters["per_record"] = benchmark::Counter(
      static_cast<double>(records), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

/// Computes fingerprint() in the way that it chooses on this processor.
void fingerprint_records(benchmark::State& state) {
  const auto record_bytes = static_cast<std::size_t>(state.range(0));
  const std::size_t count = kCachedBytes / record_bytes;
  const std::vector<std::byte> records = random_bytes(count * record_bytes);
  for (auto _ : state) benchmark::DoNotOptimize(fingerprint(records, record_bytes));
  set_rates(state, records.size(), count);
}
BENCHMARK(fingerprint_records)->Arg(1)->Arg(4)->Arg(16)->Arg(64)->Arg(99)->Arg(100)->Arg(128)->Arg(256)->Arg(4096);

/// Takes one record after the other, as on processors without AVX-512.
void fingerprint_benchmark_records_plainly(benchmark::State& state) {
  const std::size_t count = kCachedBytes / kBenchmarkRecordBytes;
  const std::vector<std::byte> records = random_bytes(count * kBenchmarkRecordBytes);
  for (auto _ : state) benchmark::DoNotOptimize(plain_fingerprint_of_benchmark_records(records.data(), count));
  set_rates(state, records.size(), count);
}
BENCHMARK(fingerprint_benchmark_records_plainly);

/// Computes what the public generator and validator sum up: one CRC-32 a record.
void crc32_of_benchmark_records(benchmark::State& state) {
  const std::size_t count = kCachedBytes / kBenchmarkRecordBytes;
  const std::vector<std::byte> records = random_bytes(count * kBenchmarkRecordBytes);
  for (auto _ : state) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i)
      sum += crc32(std::span(records).subspan(i * kBenchmarkRecordBytes, kBenchmarkRecordBytes));
    benchmark::DoNotOptimize(sum);
  }
  set_rates(state, records.size(), count);
}
BENCHMARK(crc32_of_benchmark_records);

void crc32_of_a_block(benchmark::State& state) {
  const std::vector<std::byte> block = random_bytes(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(crc32(block));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(crc32_of_a_block)->Arg(4096)->Arg(256 << 10);

void crc32c_of_a_block(benchmark::State& state) {
  const std::vector<std::byte> block = random_bytes(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(crc32c(block));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(crc32c_of_a_block)->Arg(4096)->Arg(256 << 10)->Arg(1 << 20);

}  // namespace
}  // namespace hetsort::io::bench
