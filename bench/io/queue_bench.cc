// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The three queues, reading and writing a preallocated file of 256 MiB in TMPDIR with direct I/O where it has it.
// Arguments: backend (0 io_uring, 1 threads, 2 buffered), block in KiB, blocks in flight.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <memory>

#include "io/calls/buffer.h"
#include "io/transfer/queue.h"

namespace hetsort::io::bench {
namespace {

constexpr std::uint64_t kFileBytes = std::uint64_t{256} << 20;

void move_file(benchmark::State& state, Direction direction) {
  const auto backend = static_cast<Backend>(state.range(0));
  const auto block = static_cast<std::size_t>(state.range(1)) << 10;
  const auto depth = static_cast<std::size_t>(state.range(2));
  if (backend == Backend::kUring && !uring_available()) return state.SkipWithError("io_uring is refused here");
  const File file = File::create_nameless(std::filesystem::temp_directory_path());
  const Buffer memory(block * depth);
  file.allocate(kFileBytes);
  file.set_direct(true);
  // Reserved blocks that were never written are zeroed by the kernel, not read: write them once.
  for (std::uint64_t at = 0; at < kFileBytes; at += block) file.write_at(memory.span().first(block), at);
  const auto queue = make_queue(backend, depth);
  for (auto _ : state) {
    std::uint64_t buffer = 0;
    for (std::uint64_t at = 0; at < kFileBytes; at += block) {
      buffer = queue->in_flight() == depth ? queue->wait().tag : queue->in_flight();
      queue->submit({&file, direction, memory.data() + buffer * block, block, at, buffer});
    }
    while (queue->in_flight() > 0) queue->wait();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * kFileBytes));
}

void read_file(benchmark::State& state) { move_file(state, Direction::kRead); }
void write_file(benchmark::State& state) { move_file(state, Direction::kWrite); }

void backends(benchmark::internal::Benchmark* suite) {
  suite->ArgNames({"backend", "KiB", "depth"})->ArgsProduct({{0, 1, 2}, {64, 1024}, {1, 8}});
  suite->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();
}
BENCHMARK(read_file)->Apply(backends);
BENCHMARK(write_file)->Apply(backends);

}  // namespace
}  // namespace hetsort::io::bench
