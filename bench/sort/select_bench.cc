// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What the splitter selection costs beside the whole sort, on 64 ranks in one process: the share of all ranks' phase
// times, waiting for one another included. The files lie in HETSORT_BENCH_FOLDER, /dev/shm by default; records a rank
// are the argument.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <random>

#include "sort/comm/in_process.h"
#include "sort/sort.h"

namespace hetsort::sort {
namespace {

constexpr int kRanks = 64;

std::string folder() {
  const char* const given = std::getenv("HETSORT_BENCH_FOLDER");
  return std::string(given != nullptr ? given : "/dev/shm") + "/hetsort-select-bench";
}

void write_records(const std::string& path, std::size_t records) {
  std::ofstream file(path, std::ios::binary);
  std::mt19937_64 random(1);
  std::array<std::uint64_t, 125> piece{};  // ten records
  for (std::size_t done = 0; done < records; done += 10) {
    for (std::uint64_t& number : piece) number = random();
    file.write(reinterpret_cast<const char*>(piece.data()), sizeof piece);
  }
}

void select_among_64_ranks(benchmark::State& state) {
  const auto records = static_cast<std::size_t>(state.range(0));
  std::filesystem::create_directory(folder());
  write_records(folder() + "/in", records * kRanks);
  SortOptions options;
  options.inputs = {folder() + "/in"};
  options.output = folder() + "/out.{rank}";
  options.memory_bytes = std::uint64_t{1} << 29;
  options.sync = false;
  double selecting = 0;
  double sorting = 0;
  std::uint64_t reductions = 0;
  for (auto _ : state) {
    std::mutex mutex;
    InProcessOptions in_process;
    in_process.longest_delay_microseconds = 0;
    run_ranks(kRanks, 1, in_process, [&](Communicator& ranks) {
      Monitor monitor;
      RankResult result;
      sort_records(options, ranks, monitor, result);
      const std::lock_guard lock(mutex);
      for (const PhaseTime& phase : monitor.phases()) {
        sorting += phase.end - phase.begin;
        if (phase.name == "select_splitters") selecting += phase.end - phase.begin;
      }
      reductions = ranks.collectives();
    });
  }
  state.counters["select_share"] = selecting / sorting;
  state.counters["collectives"] = static_cast<double>(reductions);
  std::filesystem::remove_all(folder());
}
BENCHMARK(select_among_64_ranks)
    ->Arg(20'000)
    ->Arg(1'000'000)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace hetsort::sort
