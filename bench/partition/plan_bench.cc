// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Time of one make_plan: shares, finish times and lower bound. The problem is built beforehand. Labels name the target
// of each line. Run a Release build: build/release/bench/partition/hetsort_bench_partition
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <random>

#include "partition/plan.h"
#include "partition/scatter.h"

namespace hetsort::partition::bench {
namespace {

std::vector<double> different_speeds(std::int64_t nodes) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> speed(1, 8);
  std::vector<double> speeds(static_cast<std::size_t>(nodes));
  for (double& one : speeds) one = speed(random);
  return speeds;
}

void lambert(benchmark::State& state) {
  const Problem problem = problem_from_speeds(1'000'000'000'000, different_speeds(state.range(0)));
  const StrategyChoice choice = choose_strategy("lambert");
  for (auto _ : state) benchmark::DoNotOptimize(make_plan(problem, choice));
  state.SetLabel(state.range(0) == 10'000 ? "N = 1e12, all speeds different; bar 3 ms"
                                          : "N = 1e12; bar 12 x the time of p = 10,000");
}
BENCHMARK(lambert)->ArgName("p")->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

CostPtr mixed_cost(std::size_t i, double scale) {
  switch (i % 6) {
    case 0:
      return linear_cost(1e-6 * scale);
    case 1:
      return affine_cost({0.5 * scale, 1e-6 * scale});
    case 2:
      return nlogn_cost({1e-7 * scale, 0.1, 1e-8});
    case 3:
      return power_cost(1e-7 * scale, 1.1);
    case 4:
      return table_cost({{1e6, scale}, {1e7, 11 * scale}, {1e8, 150 * scale}, {1e9, 1700 * scale}});
    default:
      return step_cost({1e-6 * scale, 2e7, 3 * scale});
  }
}

void threshold_mixed_kinds_with_caps(benchmark::State& state) {
  const std::vector<double> speeds = different_speeds(state.range(0));
  Problem problem;
  problem.records = 1'000'000'000'000;
  const std::int64_t each = problem.records / state.range(0);
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    ProblemNode node;
    node.compute = mixed_cost(i, speeds[i]);
    if (i % 3 == 0) node.max_records = each + static_cast<std::int64_t>(i) * 1000;
    problem.nodes.push_back(std::move(node));
  }
  const StrategyChoice choice = choose_strategy("threshold");
  for (auto _ : state) benchmark::DoNotOptimize(make_plan(problem, choice));
  state.SetLabel("N = 1e12, six kinds, caps on a third; bar 30 ms");
}
BENCHMARK(threshold_mixed_kinds_with_caps)->ArgName("p")->Arg(10'000)->Unit(benchmark::kMillisecond);

/// Nodes that differ in every resource. `own_input`: each has records of its own.
Problem problem_of_phases(std::int64_t nodes, bool own_input) {
  std::mt19937_64 random(2);
  const auto between = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  Problem problem;
  problem.run.emplace();
  for (std::int64_t i = 0; i < nodes; ++i) {
    RankResources rank;
    rank.host = static_cast<std::size_t>(i);
    rank.sort = nlogn_cost({.coefficient = between(5e-9, 4e-8)});
    rank.merge_seconds = between(1e-7, 8e-7);
    rank.message = {between(1e-10, 1e-9), between(1e-10, 1e-9)};
    rank.rates = {between(5e7, 1e9), between(5e7, 1e9), between(1e8, 1e9), between(1e8, 1e9)};
    rank.memory_records = static_cast<std::int64_t>(between(5e7, 2e8));
    ProblemNode node;
    node.compute = rank.sort;
    node.resources = std::make_shared<const RankResources>(std::move(rank));
    if (own_input) node.input_records = static_cast<std::int64_t>(between(5e7, 1.5e8));
    problem.records += node.input_records.value_or(100'000'000);
    problem.nodes.push_back(std::move(node));
  }
  return problem;
}

void phases(benchmark::State& state, bool own_input) {
  const Problem problem = problem_of_phases(state.range(0), own_input);
  const StrategyChoice choice = choose_strategy("phases");
  for (auto _ : state) benchmark::DoNotOptimize(make_plan(problem, choice));
  state.SetLabel(state.range(0) == 10'000 ? "1e8 records a node, all rates different; bar 50 ms"
                                          : "1e8 records a node; bar 12 x the time of p = 10,000");
}
BENCHMARK_CAPTURE(phases, own_input, true)->ArgName("p")->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(phases, shared_input, false)->ArgName("p")->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

/// The platform of Genaud, Giersch, Vivien 2003, the root first.
Problem grid_2003() {
  struct Kind {
    double compute, receive;
    int count;
  };
  Problem problem;
  problem.records = 817'101;
  for (const Kind& kind :
       {Kind{0.009288, 0, 1}, Kind{0.009365, 1.12e-5, 1}, Kind{0.004629, 1.00e-5, 1}, Kind{0.004885, 1.70e-5, 1},
        Kind{0.003976, 8.15e-5, 2}, Kind{0.016156, 2.10e-5, 2}, Kind{0.009677, 3.53e-5, 8}}) {
    for (int i = 0; i < kind.count; ++i) {
      ProblemNode node;
      node.compute = linear_cost(kind.compute);
      node.receive = linear_cost(kind.receive);
      problem.nodes.push_back(std::move(node));
    }
  }
  return arrange_scatter(std::move(problem), 0, SendingOrder::kBandwidth);
}

double peak_mebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void scatter_exact(benchmark::State& state) {
  const Problem problem = grid_2003();
  const StrategyChoice choice = choose_strategy("scatter-exact");
  for (auto _ : state) benchmark::DoNotOptimize(make_plan(problem, choice));
  state.counters["process_peak_MiB"] = peak_mebibytes();
  state.SetLabel("N = 817,101, p = 16; bar 300 ms and 128 MiB");
}

void scatter_lp(benchmark::State& state) {
  const Problem problem = grid_2003();
  const StrategyChoice choice = choose_strategy("scatter-lp");
  try {
    for (auto _ : state) benchmark::DoNotOptimize(make_plan(problem, choice));
  } catch (const std::exception& error) {
    state.SkipWithError(error.what());
  }
  state.SetLabel("N = 817,101, p = 16; no bar");
}
BENCHMARK(scatter_lp)->Unit(benchmark::kMillisecond);

void scatter_closed_and_ordering(benchmark::State& state) {
  const std::vector<double> speeds = different_speeds(state.range(0));
  Problem problem;
  problem.records = 1'000'000'000;
  for (const double speed : speeds) {
    ProblemNode node;
    node.compute = linear_cost(1e-3 / speed);
    node.receive = linear_cost(1e-9 * speed * speed);
    problem.nodes.push_back(std::move(node));
  }
  const StrategyChoice choice = choose_strategy("scatter-closed");
  for (auto _ : state) {
    state.PauseTiming();
    Problem copy = problem;
    state.ResumeTiming();
    benchmark::DoNotOptimize(make_plan(arrange_scatter(std::move(copy), 0, SendingOrder::kBandwidth), choice));
  }
  state.SetLabel("ordering, participation, shares, rounding; bar 2 ms");
}
BENCHMARK(scatter_closed_and_ordering)->ArgName("p")->Arg(10'000)->Unit(benchmark::kMillisecond);

// Stands last, so that its peak memory includes everything that ran before.
BENCHMARK(scatter_exact)->Unit(benchmark::kMillisecond);

void dp(benchmark::State& state) {
  const Problem problem = problem_from_speeds(state.range(0), std::vector<double>{1, 2, 4, 8});
  const StrategyChoice choice = choose_strategy("dp");
  for (auto _ : state) benchmark::DoNotOptimize(make_plan(problem, choice));
  state.SetLabel("four nodes; no bar (the tests compare it with threshold)");
}
BENCHMARK(dp)->ArgName("N")->Arg(2'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hetsort::partition::bench

BENCHMARK_MAIN();
