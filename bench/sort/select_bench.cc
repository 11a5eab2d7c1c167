// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The cost of the splitter selection in a whole sort on 64 ranks in one process. `select_share`: time from the moment
// the last rank begins the selection until the last rank ends it, as a part of the whole sort; before that moment the
// other ranks wait for the last rank's runs. `with_waiting`: the phase's part of all ranks' phase times, this wait
// included. The files are in HETSORT_BENCH_FOLDER, /dev/shm by default; the argument is the number of records a rank.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <random>

#include "sort/sort.h"
#include "tests/machinery/in_process.h"

namespace hetsort::sort::bench {
namespace {

constexpr int kRanks = 64;

std::string folder() {
  const char* const given = std::getenv("HETSORT_BENCH_FOLDER");
  return std::string(given != nullptr ? given : "/dev/shm") + "/hetsort-select-bench";
}

void write_records(const std::string& path, std::size_t records) {
  std::ofstream file(path, std::ios::binary);
  std::mt19937_64 random(1);
  std::array<std::uint64_t, 125> piece{};  // the words of ten records
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
  options.input.paths = {folder() + "/in"};
  options.output.paths = {folder() + "/out.{rank}"};
  options.memory_bytes = std::uint64_t{1} << 29;
  options.output.sync = false;
  double last_begin = 0;
  double last_end = 0;
  double sort_end = 0;
  double selecting = 0;
  double in_phases = 0;
  std::uint64_t reductions = 0;
  for (auto _ : state) {
    const auto start = Monitor::Clock::now();
    std::mutex mutex;
    machinery::InProcessOptions in_process;
    in_process.longest_delay_microseconds = 0;
    machinery::run_ranks(kRanks, 1, in_process, [&](comm::Communicator& ranks) {
      Monitor monitor(false, start);
      RankResult result;
      sort_records(options, ranks, monitor, result);
      const std::lock_guard lock(mutex);
      for (const PhaseTime& phase : monitor.phases()) {
        sort_end = std::max(sort_end, phase.end);
        in_phases += phase.end - phase.begin;
        if (phase.name != "select_splitters") continue;
        last_begin = std::max(last_begin, phase.begin);
        last_end = std::max(last_end, phase.end);
        selecting += phase.end - phase.begin;
      }
      reductions = ranks.collectives();
    });
  }
  state.counters["select_share"] = (last_end - last_begin) / sort_end;
  state.counters["with_waiting"] = selecting / in_phases;
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
}  // namespace hetsort::sort::bench
