// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Time of one evaluation of MHETA for a distribution. Labels name the target of each line.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string>

#include "bench/research/mheta/predict_program.h"
#include "bench/research/mheta/program_text.h"

namespace hetsort::research::studies {
namespace {

/// Sections as in Lanczos: two stages each, one of them over a matrix that is on disk; half end in a reduction.
std::string sections_text(int sections) {
  std::string text =
      "rows = 100000\nmessage = { send_overhead = 1e-5, receive_overhead = 1e-5, latency = 1e-4 }\n"
      "[[variable]]\nname = 'matrix'\nrow_bytes = '48KiB'\n[[variable]]\nname = 'basis'\nbytes = '1MiB'\n";
  for (int i = 0; i < sections; ++i)
    text += fmt::format(
        "[[section]]\ncommunication = '{}'\nmessage_bytes = 8\n"
        "stage = [{{ per_row = 1e-4, reads = ['matrix'] }}, {{ fixed = 1e-3, reads = ['basis'] }}]\n",
        i % 2 == 0 ? "reduction" : "nearest-neighbour");
  return text;
}

void mheta(benchmark::State& state) {
  const auto nodes = state.range(0);
  const partition::Cluster cluster =
      partition::parse_cluster(fmt::format("[[node]]\nspeed = 1\ncount = {}\nmemory = '64MiB'\ndisk_read = '100MB/s'\n"
                                           "disk_write = '100MB/s'\nbandwidth = '1gbit'\n",
                                           nodes),
                               "cluster");
  const ProgramModel model =
      program_model(parse_program(sections_text(static_cast<int>(state.range(1))), "program"), cluster);
  const std::vector<std::int64_t> rows(static_cast<std::size_t>(nodes), 100'000 / nodes + 1);
  for (auto _ : state) benchmark::DoNotOptimize(predict_program(model, rows));
  state.SetLabel(nodes == 8 ? "bar 10 us" : "bar 2 ms");
}
BENCHMARK(mheta)->ArgNames({"nodes", "sections"})->ArgsProduct({{8, 1000}, {2, 15}})->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace hetsort::research::studies
