// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What fresh memory costs, and what a run pays for io/ before its first byte.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <memory>

#include "io/calls/buffer.h"
#include "io/publish.h"
#include "io/temp/temp_space.h"
#include "io/transfer/queue.h"
#include "sort/machine/memory_budget.h"

namespace hetsort::io::bench {
namespace {

/// First touch of a buffer, one byte a 4 KiB page.
void touch_fresh_buffer(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    const Buffer buffer(bytes);
    for (std::size_t at = 0; at < bytes; at += Buffer::kAlignmentBytes) buffer.data()[at] = std::byte{1};
    benchmark::DoNotOptimize(buffer.data());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(touch_fresh_buffer)->Arg(64 << 10)->Arg(64 << 20);

void start_queue(benchmark::State& state) {
  const auto backend = static_cast<Backend>(state.range(0));
  if (backend == Backend::kUring && !uring_available()) return state.SkipWithError("io_uring is refused here");
  for (auto _ : state) benchmark::DoNotOptimize(make_queue(backend, 32));
}
BENCHMARK(start_queue)->ArgName("backend")->DenseRange(0, 2);

void read_limits(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(sort::read_memory_limits());
}
BENCHMARK(read_limits);

void inspect_temp_directory(benchmark::State& state) {
  const std::string folder = std::filesystem::temp_directory_path();
  for (auto _ : state) benchmark::DoNotOptimize(inspect_space(folder, "temp directory"));
}
BENCHMARK(inspect_temp_directory);

void open_output(benchmark::State& state) {
  const std::string path = std::filesystem::temp_directory_path() / "hetsort-bench-output";
  for (auto _ : state) benchmark::DoNotOptimize(OutputFile(path).is_staged());
}
BENCHMARK(open_output);

}  // namespace
}  // namespace hetsort::io::bench
